/* SPDX-License-Identifier: MIT */
#include "http1/head.h"

#include "core/base/macros.h"

#include <http_parser.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

// The longest name that is not a token and is ignored; a longer one is refused.
#define IGNORED_NAME_MAX 256

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
// Checks that http-parser 2.9.4 does not make, as Debian builds it (not HTTP_PARSER_STRICT)
//

// Versions before 2.9.3 also accept a Content-Length beside some forms of Transfer-Encoding, which
// allows request smuggling (CVE-2019-15605).
_Static_assert(HTTP_PARSER_VERSION_MAJOR * 10000 + HTTP_PARSER_VERSION_MINOR * 100 +
                       HTTP_PARSER_VERSION_PATCH >=
                   20904,
               "http-parser 2.9.4, its last version, is required");

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

// These remove their part and the space after it from a request line. The CR at the end of the line
// ends every part.

// RFC 9110, 9.1. http-parser does not tell an unknown method, which is answered 405, from bytes
// that are not a method.
static bool method_is_token(struct slice *line)
{
    size_t len = 0;

    while (tokens[(unsigned char)line->ptr[len]]) {
        len++;
    }
    if (len == 0 || line->ptr[len] != ' ') {
        return false;
    }
    *line = slice_from(*line, len + 1);
    return true;
}

static size_t visible_len(const char *text)
{
    size_t len = 0;

    while (text[len] > ' ' && text[len] < 0x7f) {
        len++;
    }
    return len;
}

// RFC 9112, 3.2. http-parser accepts tabs, form feeds and bytes above 0x7F, and a target after
// several spaces.
static bool target_is_visible(struct slice *line)
{
    size_t len = visible_len(line->ptr);

    if (len == 0 || line->ptr[len] != ' ') {
        return false;
    }
    *line = slice_from(*line, len + 1);
    return true;
}

// RFC 9112, 2.3. http-parser accepts a missing version, several spaces before it, and other letters
// instead of TTP.
static bool version_is_valid(struct slice *line)
{
    const char *at = line->ptr;

    return line->len == sizeof "HTTP/1.1" - 1 && memcmp(at, "HTTP/", 5) == 0 && at[5] >= '0' &&
           at[5] <= '9' && at[6] == '.' && at[7] >= '0' && at[7] <= '9';
}

// http-parser accepts any two digits.
static bool version_is_known(struct slice *line)
{
    return line->ptr[5] == '1' && (line->ptr[7] == '0' || line->ptr[7] == '1');
}

// RFC 9112, 2.2. http-parser accepts a lone LF; `end` is the LF of the line.
static bool line_ends_with_crlf(const char *line, const char *end)
{
    return end > line && end[-1] == '\r';
}

// RFC 9112, 2.2. http-parser accepts a CR at the beginning of a name or a value. The line is
// without its CRLF.
static bool line_has_no_bare_cr(struct slice line)
{
    return !memchr(line.ptr, '\r', line.len);
}

// RFC 9112, 5.2. http-parser joins a line that begins with a blank to the last one.
static bool line_is_not_folded(struct slice line)
{
    return *line.ptr != ' ' && *line.ptr != '\t';
}

// RFC 9112, 5.1. http-parser accepts spaces in a name and before the colon.
static bool name_has_no_space(struct slice name)
{
    return !memchr(name.ptr, ' ', name.len);
}

// RFC 9110, 5.5. http-parser accepts any byte as the first one of a value.
static bool value_begins_with_text(struct slice value)
{
    return value.len == 0 || ((unsigned char)*value.ptr >= ' ' && *value.ptr != 0x7f);
}

//
// Lines
//

static const struct request_line_check {
    bool (*holds)(struct slice *line);
    enum http1_head_result otherwise;
} request_line_checks[] = {
    {method_is_token, HTTP1_HEAD_BAD},
    {target_is_visible, HTTP1_HEAD_BAD},
    {version_is_valid, HTTP1_HEAD_BAD},
    {version_is_known, HTTP1_HEAD_VERSION},
};

static enum http1_head_result check_request_line(struct slice line)
{
    for (size_t i = 0; i < sizeof request_line_checks / sizeof *request_line_checks; i++) {
        if (!request_line_checks[i].holds(&line)) {
            return request_line_checks[i].otherwise;
        }
    }
    return HTTP1_HEAD_MORE;
}

// Checks the next line, without its CRLF. DONE: it is the empty line.
static enum http1_head_result check_line(const struct http1_head_scan *scan, struct slice line)
{
    if (scan->lines == 0) {
        return check_request_line(line);
    }
    if (line.len == 0) {
        return HTTP1_HEAD_DONE;
    }
    if (scan->lines > HTTP1_HEADERS_MAX) {
        return HTTP1_HEAD_LONG;
    }
    return line_is_not_folded(line) && line_has_no_bare_cr(line) ? HTTP1_HEAD_MORE : HTTP1_HEAD_BAD;
}

// Checks all complete lines up to the empty one.
static enum http1_head_result check_lines(struct http1_head_scan *scan, struct slice input,
                                          size_t max)
{
    enum http1_head_result result = HTTP1_HEAD_MORE;

    while (result == HTTP1_HEAD_MORE) {
        struct slice rest = slice_from(input, scan->checked);
        const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
        size_t line_len = end ? (size_t)(end - rest.ptr) + 1 : rest.len;

        if (scan->checked + line_len > max || (!end && scan->checked + line_len == max)) {
            return HTTP1_HEAD_LONG;
        }
        if (!end) {
            return HTTP1_HEAD_MORE;
        }
        if (!line_ends_with_crlf(rest.ptr, end)) {
            return HTTP1_HEAD_BAD;
        }
        result = check_line(scan, slice_of(rest.ptr, line_len - 2));
        if (result == HTTP1_HEAD_MORE || result == HTTP1_HEAD_DONE) {
            scan->checked += line_len;
            scan->lines++;
        }
    }
    return result;
}

//
// Callbacks of the parser
//

// A head that is being parsed.
struct head_reading {
    const struct http1_names *names;
    struct http1_fields *fields;
    unsigned field;         // of the last name, or HTTP1_FIELD_NONE
    bool close, keep_alive; // options in all lines of Connection
};

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
    struct slice name = slice_of(at, len);

    reading->field = field_of(reading->names, name);
    return reading->field != HTTP1_FIELD_NONE || name_has_no_space(name) ? 0 : 1;
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
    struct slice value = slice_of(at, len);

    if (reading->field != HTTP1_FIELD_NONE) {
        note_value(reading, slice_trim_end(value));
    }
    return value_begins_with_text(value) ? 0 : 1;
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
// Headers one by one: for a head that is not complete, or that http-parser refuses as a whole
//

static int on_checked_name(http_parser *parser, const char *at, size_t len)
{
    (void)parser;
    return name_has_no_space(slice_of(at, len)) ? 0 : 1;
}

static int on_checked_value(http_parser *parser, const char *at, size_t len)
{
    (void)parser;
    return value_begins_with_text(slice_of(at, len)) ? 0 : 1;
}

static const http_parser_settings checking = {.on_header_field = on_checked_name,
                                              .on_header_value = on_checked_value};

// Whether the bytes of a header are valid, from some byte of its name on. `begun` is in a name.
static bool header_is_valid(const http_parser *begun, struct slice text)
{
    http_parser parser = *begun;

    (void)http_parser_execute(&parser, &checking, text.ptr, text.len);
    return HTTP_PARSER_ERRNO(&parser) == HPE_OK;
}

// Whether the letters of a name are, or contain, the name of a header that determines the framing
// or the caller: some parser might treat the name as that header.
static bool resembles_framing(struct slice name)
{
    static const char *const words[] = {"contentlength", "transferencoding", "trailer", "host",
                                        "connection",    "upgrade",          "expect"};
    char letters[IGNORED_NAME_MAX + 1];
    size_t count = 0;

    for (size_t i = 0; i < name.len; i++) {
        char lower = (char)(name.ptr[i] | 0x20);

        if (lower >= 'a' && lower <= 'z') {
            letters[count++] = lower;
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

// A header whose name is not a token, such as one that begins with a quote, is ignored, as in
// gearmand and nginx. It is refused if the name has a blank or an invisible byte, because parsers
// disagree on such a name.
static bool header_is_ignored(const http_parser *begun, struct slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    struct slice name = slice_of(line.ptr, colon ? (size_t)(colon - line.ptr) : 0);

    return name.len > 0 && name.len <= IGNORED_NAME_MAX && visible_len(line.ptr) >= name.len &&
           !resembles_framing(name) && header_is_valid(begun, slice_from(line, name.len));
}

static struct slice cut_line(struct slice *lines)
{
    size_t len = (size_t)((const char *)memchr(lines->ptr, '\n', lines->len) - lines->ptr) + 1;
    struct slice line = slice_of(lines->ptr, len);

    *lines = slice_from(*lines, len);
    return line;
}

// Passes headers to the parser, except ignored ones. Without a parser, only checks them. False: a
// header is malformed.
static bool parse_headers(struct slice lines, http_parser *parser,
                          const http_parser_settings *settings)
{
    // Names that begin with X have no meaning to http-parser, so it checks only their bytes.
    const struct slice before = SLICE("GET / HTTP/1.1\r\nX");
    http_parser begun;

    http_parser_init(&begun, HTTP_REQUEST);
    (void)http_parser_execute(&begun, &checking, before.ptr, before.len);
    while (lines.len > 0) {
        struct slice line = cut_line(&lines);
        bool valid = line.len == 2 || (*line.ptr != ':' && header_is_valid(&begun, line));

        if (!valid && !header_is_ignored(&begun, line)) {
            return false;
        }
        if (valid && parser) {
            (void)http_parser_execute(parser, settings, line.ptr, line.len);
        }
    }
    return true;
}

//
// Heads
//

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

static void fields_begin(struct http1_fields *fields, const struct http1_names *names)
{
    memset(fields, 0, offsetof(struct http1_fields, values));
    memset(fields->values, 0, names->count * sizeof *fields->values);
}

// The request line is valid, but http-parser may not have reached its parts.
static void read_request_line(struct slice line, struct http1_fields *fields)
{
    const char *target = (const char *)memchr(line.ptr, ' ', line.len) + 1;
    const char *version = (const char *)memchr(target, ' ', (size_t)(slice_end(line) - target)) + 1;

    fields->target = slice_of(target, (size_t)(version - target) - 1);
    fields->version_1_0 = version[sizeof "HTTP/1." - 1] == '0';
}

// The same as parse_head(), header by header.
static APART enum http1_head_result parse_refused_head(struct slice head,
                                                       struct head_reading *reading,
                                                       const http_parser_settings *settings)
{
    struct http1_fields *fields = reading->fields;
    struct slice lines = head, line = cut_line(&lines);
    http_parser parser;

    *reading =
        (struct head_reading){.names = reading->names, .fields = fields, .field = HTTP1_FIELD_NONE};
    fields_begin(fields, reading->names);
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = reading;
    (void)http_parser_execute(&parser, settings, line.ptr, line.len);
    if (!parse_headers(lines, &parser, settings)) {
        return HTTP1_HEAD_BAD;
    }
    read_request_line(line, fields);
    fields->method = method_of(&parser);
    return fields->method == HTTP1_OTHER_METHOD || HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED
               ? HTTP1_HEAD_DONE
               : HTTP1_HEAD_REFUSED;
}

static enum http1_head_result parse_head(struct slice head, const struct http1_names *names,
                                         struct http1_fields *fields)
{
    static const http_parser_settings plain = {.on_url = on_url,
                                               .on_header_field = on_header_field,
                                               .on_header_value = on_header_value,
                                               .on_headers_complete = on_headers_complete};
    static const http_parser_settings proxied = {.on_url = on_url,
                                                 .on_header_field = on_header_field_proxied,
                                                 .on_header_value = on_header_value,
                                                 .on_headers_complete = on_headers_complete};
    const http_parser_settings *settings = names->note_proxies ? &proxied : &plain;
    struct head_reading reading = {.names = names, .fields = fields, .field = HTTP1_FIELD_NONE};
    http_parser parser;

    fields_begin(fields, names);
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = &reading;
    (void)http_parser_execute(&parser, settings, head.ptr, head.len);
    if (HTTP_PARSER_ERRNO(&parser) != HPE_PAUSED) {
        return parse_refused_head(head, &reading, settings);
    }
    fields->method = method_of(&parser);
    fields->version_1_0 = parser.http_minor == 0;
    return HTTP1_HEAD_DONE;
}

enum http1_head_result http1_head_read(struct http1_head_scan *scan, struct slice input, size_t max,
                                       const struct http1_names *names, struct http1_fields *fields)
{
    const struct http1_head_scan before = *scan;
    enum http1_head_result result = check_lines(scan, input, max);
    struct slice fresh = slice_of(input.ptr + before.checked, scan->checked - before.checked);

    if (result == HTTP1_HEAD_DONE) {
        result = parse_head(slice_of(input.ptr, scan->checked), names, fields);
        fields->head_len = scan->checked;
        return result;
    }
    if (before.lines == 0 && fresh.len > 0) {
        (void)cut_line(&fresh);
    }
    return fresh.len == 0 || parse_headers(fresh, NULL, NULL) ? result : HTTP1_HEAD_BAD;
}

//
// Framing
//

// RFC 9112, 3.2. HTTP/1.0 may go without.
static bool has_one_host(const struct http1_fields *fields)
{
    return !http1_repeats(fields, HTTP1_FIELD_HOST) &&
           (fields->version_1_0 || http1_has(fields, HTTP1_FIELD_HOST));
}

// RFC 9112, 6.1. http-parser does not count codings; a second length, or one beside a coding, it
// refuses.
static bool has_one_coding(const struct http1_fields *fields)
{
    return !http1_repeats(fields, HTTP1_FIELD_TRANSFER_ENCODING);
}

// RFC 9110, 10.1.1.
static bool expects_only_continue(const struct http1_fields *fields)
{
    return !http1_has(fields, HTTP1_FIELD_EXPECT) ||
           http1_same_word(fields->values[HTTP1_FIELD_EXPECT], SLICE("100-continue"));
}

// RFC 9112, 6.1.
static bool version_has_coding(const struct http1_fields *fields)
{
    return !fields->version_1_0 || !http1_has(fields, HTTP1_FIELD_TRANSFER_ENCODING);
}

// RFC 9112, 6.1. http-parser's flag also accepts a list that ends with chunked, and misses the word
// before a tab.
static bool coding_is_chunked(const struct http1_fields *fields)
{
    return !http1_has(fields, HTTP1_FIELD_TRANSFER_ENCODING) ||
           http1_same_word(fields->values[HTTP1_FIELD_TRANSFER_ENCODING], SLICE("chunked"));
}

// What http-parser does not check of the framing, and the answer to a request that fails.
static const struct framing_check {
    bool (*holds)(const struct http1_fields *fields);
    struct http1_refusal refusal;
} framing_checks[] = {
    {has_one_host, {400, "exactly one Host is required"}},
    {has_one_coding, {400, "only one Transfer-Encoding is allowed"}},
    {expects_only_continue, {417, "Expect must be 100-continue"}},
    {version_has_coding, {400, "HTTP/1.0 does not have Transfer-Encoding"}},
    {coding_is_chunked, {501, "Transfer-Encoding must be chunked"}},
};

bool http1_framing_read(const struct http1_fields *fields, struct http1_framing *framing,
                        struct http1_refusal *refusal)
{
    *framing = (struct http1_framing){
        .chunked = http1_has(fields, HTTP1_FIELD_TRANSFER_ENCODING),
        .expects = http1_has(fields, HTTP1_FIELD_EXPECT) && !fields->version_1_0,
        .len = fields->length,
    };
    for (size_t i = 0; i < sizeof framing_checks / sizeof *framing_checks; i++) {
        if (!framing_checks[i].holds(fields)) {
            *refusal = framing_checks[i].refusal;
            return false;
        }
    }
    return true;
}
