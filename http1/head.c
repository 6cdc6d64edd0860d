/* SPDX-License-Identifier: MIT */
#include "http1/head.h"

#include "core/base/macros.h"

#include <http_parser.h>

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define VERSION_START "HTTP/"
// The longest name that is not a token and is ignored; a longer one is refused.
#define ODD_NAME_MAX 256

// The bytes of a token: a method, or a header's name.
static const bool tokens[UINT8_MAX + 1] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // control bytes
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // control bytes
    0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, //   ! " # $ % & ' ( ) * + , - . /
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, // 0 1 2 3 4 5 6 7 8 9 : ; < = > ?
    0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // @ A B C D E F G H I J K L M N O
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, // P Q R S T U V W X Y Z [ \ ] ^ _
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // ` a b c d e f g h i j k l m n o
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0  // p q r s t u v w x y z { | } ~
};

// Whether a byte may be in a target: not a blank, a control byte, or above 0x7F.
static bool is_target(unsigned char c)
{
    return c > 0x20 && c < 0x7f;
}

// Whether a byte may be in the value of a header.
static bool is_value_byte(unsigned char c)
{
    return c < 0x20 ? c == '\t' : c != 0x7f;
}

// Whether eight bytes are text without a tab. Checking them together saves 1 % of a POST.
static bool is_plain_text(const char *at)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t bytes, del;

    memcpy(&bytes, at, sizeof bytes);
    del = bytes ^ each * 0x7f;
    // Some high bit remains if a byte is below 0x20, or if one of `del` is 0.
    return ((((bytes - each * 0x20) & ~bytes) | ((del - each) & ~del)) & each * 0x80) == 0;
}

// These return the length of the line's prefix of one kind of bytes. The CR at the end of a line is
// of no kind, so they stop before it.
static size_t token_len(const char *line)
{
    size_t len = 0;

    while (tokens[(unsigned char)line[len]]) {
        len++;
    }
    return len;
}

static size_t target_len(const char *line)
{
    size_t len = 0;

    while (is_target((unsigned char)line[len])) {
        len++;
    }
    return len;
}

static size_t text_len(struct slice line)
{
    size_t len = 0;

    while (line.len - len >= sizeof(uint64_t) && is_plain_text(line.ptr + len)) {
        len += sizeof(uint64_t);
    }
    while (is_value_byte((unsigned char)line.ptr[len])) {
        len++;
    }
    return len;
}

static enum http1_head_verdict check_version(struct slice version)
{
    const struct slice start = SLICE(VERSION_START);

    if (version.len != start.len + 3 || memcmp(version.ptr, start.ptr, start.len) != 0) {
        return HTTP1_HEAD_BAD;
    }
    version = slice_from(version, start.len);
    if (slice_equal(version, SLICE("1.1")) || slice_equal(version, SLICE("1.0"))) {
        return HTTP1_HEAD_MORE;
    }
    return version.ptr[0] >= '0' && version.ptr[0] <= '9' && version.ptr[1] == '.' &&
                   version.ptr[2] >= '0' && version.ptr[2] <= '9'
               ? HTTP1_HEAD_VERSION
               : HTTP1_HEAD_BAD;
}

// Checks method, target and version, with exactly one space between them.
static enum http1_head_verdict check_request_line(struct slice line)
{
    size_t len = token_len(line.ptr);

    if (len == 0 || line.ptr[len] != ' ') {
        return HTTP1_HEAD_BAD;
    }
    line = slice_from(line, len + 1);
    len = target_len(line.ptr);
    if (len == 0 || line.ptr[len] != ' ') {
        return HTTP1_HEAD_BAD;
    }
    return check_version(slice_from(line, len + 1));
}

// Whether the letters of a name are, or contain, the name of a header that determines the framing
// or the caller: some parser might treat the name as that header.
static bool resembles_framing(struct slice name)
{
    static const char *const words[] = {"contentlength", "transferencoding", "trailer", "host",
                                        "connection",    "upgrade",          "expect"};
    char letters[ODD_NAME_MAX + 1];
    size_t count = 0;

    for (size_t i = 0; i < name.len; i++) {
        if (isalpha((unsigned char)name.ptr[i])) {
            letters[count++] = (char)tolower((unsigned char)name.ptr[i]);
        }
    }
    letters[count] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(letters, words[i])) {
            return true;
        }
    }
    return false;
}

// A line whose name is not a token, such as one that begins with a quote, is ignored, as in
// gearmand and nginx. It is refused if the name has a blank or an invisible byte, because parsers
// disagree on such a name.
static enum http1_head_verdict check_odd_line(struct slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    struct slice name = slice_of(line.ptr, colon ? (size_t)(colon - line.ptr) : 0);
    struct slice value = slice_from(line, name.len);

    if (name.len == 0 || name.len > ODD_NAME_MAX || target_len(name.ptr) < name.len ||
        resembles_framing(name) || text_len(value) < value.len) {
        return HTTP1_HEAD_BAD;
    }
    return HTTP1_HEAD_MORE;
}

// Whether a line begins with a token and a colon.
static bool has_token_name(struct slice line, size_t *len)
{
    *len = token_len(line.ptr);
    return *len > 0 && line.ptr[*len] == ':';
}

// Checks a line of a token, a colon and a value. A line that begins with a blank would continue the
// last one.
static enum http1_head_verdict check_header(struct http1_head_scan *scan, struct slice line)
{
    size_t len;
    struct slice value;

    if (!has_token_name(line, &len)) {
        scan->odd = true;
        return check_odd_line(line);
    }
    value = slice_from(line, len + 1);
    return text_len(value) == value.len ? HTTP1_HEAD_MORE : HTTP1_HEAD_BAD;
}

// Checks the next line, without its CRLF. DONE: it is the empty line.
static enum http1_head_verdict check_line(struct http1_head_scan *scan, struct slice line)
{
    if (scan->lines == 0) {
        return check_request_line(line);
    }
    if (line.len == 0) {
        return HTTP1_HEAD_DONE;
    }
    return scan->lines > HTTP1_HEADERS_MAX ? HTTP1_HEAD_LONG : check_header(scan, line);
}

enum http1_head_verdict http1_head_check(struct http1_head_scan *scan, struct slice input,
                                         size_t max, struct http1_head *head)
{
    enum http1_head_verdict verdict = HTTP1_HEAD_MORE;

    while (verdict == HTTP1_HEAD_MORE) {
        struct slice rest = slice_from(input, scan->checked);
        const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
        size_t line_len = end ? (size_t)(end - rest.ptr) + 1 : rest.len;

        if (scan->checked + line_len > max || (!end && scan->checked + line_len == max)) {
            return HTTP1_HEAD_LONG;
        }
        if (!end) {
            return HTTP1_HEAD_MORE;
        }
        // Only some parsers accept a lone LF as the end of a line.
        if (line_len < 2 || end[-1] != '\r') {
            return HTTP1_HEAD_BAD;
        }
        verdict = check_line(scan, slice_of(rest.ptr, line_len - 2));
        scan->checked += line_len;
        scan->lines++;
    }
    *head = (struct http1_head){slice_of(input.ptr, scan->checked), scan->odd};
    return verdict;
}

// The line at `at`, including its LF; the bytes end with an LF.
static struct slice line_at(const char *at, const char *end)
{
    const char *lf = memchr(at, '\n', (size_t)(end - at));

    return slice_of(at, (size_t)(lf - at) + 1);
}

bool http1_head_next_odd(const struct http1_head *head, struct slice *line)
{
    const char *end = slice_end(head->bytes);
    // The first line is the request line, the last one the empty line.
    struct slice next = line->len ? *line : line_at(head->bytes.ptr, end);
    size_t len;

    for (;;) {
        next = line_at(slice_end(next), end);
        if (slice_end(next) == end) {
            return false;
        }
        if (!has_token_name(next, &len)) {
            *line = next;
            return true;
        }
    }
}

// A head that is being parsed.
struct head_reading {
    const struct http1_names *names;
    struct http1_fields *fields;
    unsigned field;         // of the last name, or HTTP1_FIELD_NONE
    bool close, keep_alive; // options in all lines of Connection
};

void http1_names_begin(struct http1_names *names, const char *const *own, unsigned count)
{
    static const char *const general[HTTP1_FIELD_COUNT] = {
#define X(name, text) [HTTP1_FIELD_##name] = (text),
        HTTP1_FIELDS(X)
#undef X
    };

    *names = (struct http1_names){.count = HTTP1_FIELD_COUNT + count};
    ENSURE(names->count <= HTTP1_FIELD_MAX);
    for (unsigned i = 0; i < names->count; i++) {
        const char *name = i < HTTP1_FIELD_COUNT ? general[i] : own[i - HTTP1_FIELD_COUNT];
        size_t len = strlen(name);

        ENSURE(len <= HTTP1_NAME_MAX);
        names->names[i] = slice_of(name, len);
        names->of_length[len] |= HTTP1_BIT(i);
    }
}

bool http1_same_word(struct slice a, struct slice b)
{
    // Equal words usually have the same case.
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0 ||
                              strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

// Removes the next element of a comma-separated list, and returns it.
static struct slice next_element(struct slice *list)
{
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    struct slice element = slice_of(list->ptr, len);

    *list = slice_from(*list, comma ? len + 1 : len);
    return slice_trim(element);
}

// Whether a comma-separated list contains the word, ignoring case.
static bool list_has(struct slice list, struct slice word)
{
    while (list.len > 0) {
        if (http1_same_word(next_element(&list), word)) {
            return true;
        }
    }
    return false;
}

bool http1_accept_names(struct slice accept, struct slice wanted)
{
    while (accept.len > 0) {
        struct slice type = next_element(&accept);
        const char *parameters = type.len ? memchr(type.ptr, ';', type.len) : NULL;

        if (parameters) {
            type = slice_trim(slice_of(type.ptr, (size_t)(parameters - type.ptr)));
        }
        if (http1_same_word(type, wanted)) {
            return true;
        }
    }
    return false;
}

//
// Callbacks of the parser
//

// HTTP1_FIELD_NONE: a header that is ignored. Comparing only names of the same length, usually at
// most one, saves 1 % of a POST.
static unsigned field_of(const struct http1_names *names, struct slice name)
{
    uint32_t left = name.len <= HTTP1_NAME_MAX ? names->of_length[name.len] : 0;

    for (; left; left &= left - 1) {
        unsigned field = (unsigned)__builtin_ctz(left);

        if (http1_same_word(name, names->names[field])) {
            return field;
        }
    }
    return HTTP1_FIELD_NONE;
}

static int on_url(http_parser *parser, const char *at, size_t len)
{
    struct head_reading *reading = parser->data;

    reading->fields->target = slice_of(at, len);
    return 0;
}

static int on_header_field(http_parser *parser, const char *at, size_t len)
{
    struct head_reading *reading = parser->data;

    reading->field = field_of(reading->names, slice_of(at, len));
    return 0;
}

static bool begins_with_word(struct slice text, struct slice word)
{
    return text.len >= word.len && http1_same_word(slice_of(text.ptr, word.len), word);
}

// As on_header_field(), for the few users that need to know of proxies.
static int on_header_field_proxied(http_parser *parser, const char *at, size_t len)
{
    struct head_reading *reading = parser->data;
    struct slice name = slice_of(at, len);

    reading->fields->proxied =
        reading->fields->proxied || begins_with_word(name, SLICE("X-Forwarded")) ||
        http1_same_word(name, SLICE("Forwarded")) || http1_same_word(name, SLICE("Via")) ||
        http1_same_word(name, SLICE("X-Real-IP"));
    return on_header_field(parser, at, len);
}

// A list may be split over several lines.
static void note_value(struct head_reading *reading, struct slice value)
{
    struct http1_fields *fields = reading->fields;

    fields->values[reading->field] = value;
    fields->repeated |= fields->present & HTTP1_BIT(reading->field);
    fields->present |= HTTP1_BIT(reading->field);
    if (reading->field == HTTP1_FIELD_CONNECTION) {
        reading->close = reading->close || list_has(value, SLICE("close"));
        reading->keep_alive = reading->keep_alive || list_has(value, SLICE("keep-alive"));
    } else if (reading->field == HTTP1_FIELD_ACCEPT) {
        fields->events = fields->events || http1_accept_names(value, SLICE("text/event-stream"));
    }
}

// Called once for each name, at the end of its line, without leading blanks.
static int on_header_value(http_parser *parser, const char *at, size_t len)
{
    struct head_reading *reading = parser->data;

    if (reading->field != HTTP1_FIELD_NONE) {
        note_value(reading, slice_trim_end(slice_of(at, len)));
    }
    return 0;
}

// The parser's result for keep-alive is not used: it treats Proxy-Connection as Connection,
// includes a tab after a word, and prefers keep-alive over close on HTTP/1.0.
static int on_headers_complete(http_parser *parser)
{
    struct head_reading *reading = parser->data;
    struct http1_fields *fields = reading->fields;

    fields->keep_alive = !reading->close && (parser->http_minor > 0 || reading->keep_alive);
    fields->length = parser->flags & F_CONTENTLENGTH ? parser->content_length : 0;
    http_parser_pause(parser, 1);
    return 1;
}

//
// The parser
//

// An empty input would mean the end of input to the parser.
static void parse_part(http_parser *parser, const char *from, const char *end)
{
    static const http_parser_settings settings = {.on_url = on_url,
                                                  .on_header_field = on_header_field,
                                                  .on_header_value = on_header_value,
                                                  .on_headers_complete = on_headers_complete};
    static const http_parser_settings settings_proxied = {
        .on_url = on_url,
        .on_header_field = on_header_field_proxied,
        .on_header_value = on_header_value,
        .on_headers_complete = on_headers_complete,
    };
    const struct head_reading *reading = parser->data;

    if (from < end) {
        (void)http_parser_execute(parser,
                                  reading->names->note_proxies ? &settings_proxied : &settings,
                                  from, (size_t)(end - from));
    }
}

// Skips the odd lines, which the parser would refuse.
static void parse_head(http_parser *parser, const struct http1_head *head)
{
    const char *from = head->bytes.ptr;
    struct slice odd = {NULL, 0};

    while (head->odd && http1_head_next_odd(head, &odd)) {
        parse_part(parser, from, odd.ptr);
        from = slice_end(odd);
    }
    parse_part(parser, from, slice_end(head->bytes));
}

static enum http1_method method_of(const http_parser *parser)
{
    if (HTTP_PARSER_ERRNO(parser) == HPE_INVALID_METHOD) {
        return HTTP1_OTHER_METHOD;
    }
    switch (parser->method) {
    case HTTP_GET:
        return HTTP1_GET;
    case HTTP_POST:
        return HTTP1_POST;
    case HTTP_PUT:
        return HTTP1_PUT;
    case HTTP_DELETE:
        return HTTP1_DELETE;
    case HTTP_HEAD:
        return HTTP1_HEAD_METHOD;
    case HTTP_OPTIONS:
        return HTTP1_OPTIONS;
    default:
        return HTTP1_OTHER_METHOD;
    }
}

// Reads only the request line, which has passed the check: the parser may not know the method.
static void read_request_line(struct slice head, struct http1_fields *fields)
{
    const char *line_end = memchr(head.ptr, '\r', head.len);
    const char *target = (const char *)memchr(head.ptr, ' ', head.len) + 1;
    const char *target_end = memchr(target, ' ', (size_t)(line_end - target));

    fields->version_1_0 = line_end[-1] == '0';
    fields->target = slice_of(target, (size_t)(target_end - target));
}

bool http1_fields_read(const struct http1_head *head, const struct http1_names *names,
                       struct http1_fields *fields)
{
    struct head_reading reading = {.names = names, .fields = fields, .field = HTTP1_FIELD_NONE};
    http_parser parser;
    bool good;

    memset(fields, 0, offsetof(struct http1_fields, values));
    memset(fields->values, 0, names->count * sizeof *fields->values);
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = &reading;
    parse_head(&parser, head);
    good = HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED;
    fields->method = method_of(&parser);
    if (fields->method == HTTP1_OTHER_METHOD || !good) {
        read_request_line(head->bytes, fields);
        return fields->method == HTTP1_OTHER_METHOD;
    }
    fields->version_1_0 = parser.http_minor == 0;
    return true;
}

static bool refuse_framing(struct http1_refusal *refusal, unsigned status, const char *why)
{
    *refusal = (struct http1_refusal){status, why};
    return false;
}

// The value must be exactly that word: http-parser's flag also accepts a list that ends with it,
// and misses it before a tab.
static bool check_coding(const struct http1_fields *fields, struct http1_refusal *refusal)
{
    struct slice coding = fields->values[HTTP1_FIELD_TRANSFER_ENCODING];

    if (!http1_has(fields, HTTP1_FIELD_TRANSFER_ENCODING)) {
        return true;
    }
    if (fields->version_1_0) {
        return refuse_framing(refusal, 400, "HTTP/1.0 does not have Transfer-Encoding");
    }
    return http1_same_word(coding, SLICE("chunked")) ||
           refuse_framing(refusal, 501, "Transfer-Encoding must be chunked");
}

bool http1_framing_read(const struct http1_fields *fields, struct http1_framing *framing,
                        struct http1_refusal *refusal)
{
    bool measured = http1_has(fields, HTTP1_FIELD_CONTENT_LENGTH);
    bool coded = http1_has(fields, HTTP1_FIELD_TRANSFER_ENCODING);

    *framing = (struct http1_framing){
        .chunked = coded,
        .expects = http1_has(fields, HTTP1_FIELD_EXPECT) && !fields->version_1_0,
        .len = fields->length,
    };
    if (http1_repeats(fields, HTTP1_FIELD_HOST) ||
        (!http1_has(fields, HTTP1_FIELD_HOST) && !fields->version_1_0)) {
        return refuse_framing(refusal, 400, "exactly one Host is required");
    }
    if (http1_repeats(fields, HTTP1_FIELD_CONTENT_LENGTH) ||
        http1_repeats(fields, HTTP1_FIELD_TRANSFER_ENCODING) || (measured && coded)) {
        return refuse_framing(refusal, 400,
                              "only one Content-Length or Transfer-Encoding is allowed");
    }
    if (http1_has(fields, HTTP1_FIELD_EXPECT) &&
        !http1_same_word(fields->values[HTTP1_FIELD_EXPECT], SLICE("100-continue"))) {
        return refuse_framing(refusal, 417, "Expect must be 100-continue");
    }
    return check_coding(fields, refusal);
}
