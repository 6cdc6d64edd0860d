/* SPDX-License-Identifier: MIT */
#include "http1/fields.h"

#include "core/base/macros.h"

#include <http_parser.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

// A head that is being parsed.
struct reading {
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
    struct reading *reading = parser->data;

    reading->fields->target = slice_of(at, len);
    return 0;
}

static int on_header_field(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;

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
    struct reading *reading = parser->data;
    struct slice name = slice_of(at, len);

    reading->fields->proxied =
        reading->fields->proxied || begins_with_word(name, SLICE("X-Forwarded")) ||
        http1_same_word(name, SLICE("Forwarded")) || http1_same_word(name, SLICE("Via")) ||
        http1_same_word(name, SLICE("X-Real-IP"));
    return on_header_field(parser, at, len);
}

// A list may be split over several lines.
static void note_value(struct reading *reading, struct slice value)
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
    struct reading *reading = parser->data;

    if (reading->field != HTTP1_FIELD_NONE) {
        note_value(reading, slice_trim_end(slice_of(at, len)));
    }
    return 0;
}

// The parser's result for keep-alive is not used: it treats Proxy-Connection as Connection,
// includes a tab after a word, and prefers keep-alive over close on HTTP/1.0.
static int on_headers_complete(http_parser *parser)
{
    struct reading *reading = parser->data;
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
static void parse(http_parser *parser, const char *from, const char *end)
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
    const struct reading *reading = parser->data;

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
        parse(parser, from, odd.ptr);
        from = slice_end(odd);
    }
    parse(parser, from, slice_end(head->bytes));
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
    struct reading reading = {.names = names, .fields = fields, .field = HTTP1_FIELD_NONE};
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
