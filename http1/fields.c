/* SPDX-License-Identifier: MIT */
#include "http1/fields.h"

#include "core/base/macros.h"

#include <http_parser.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

// A head that is being read.
struct reading {
    const struct http1_names *names;
    struct http1_fields *fields;
    unsigned field;         // that the last name was, or HTTP1_FIELD_NONE
    bool close, keep_alive; // what Connection says, in one line or in several
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
    // Most words that are the same are written alike.
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0 ||
                              strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

// The next element of a list divided by commas, which is taken off it.
static struct slice next_element(struct slice *list)
{
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    struct slice element = slice_of(list->ptr, len);

    *list = slice_from(*list, comma ? len + 1 : len);
    return slice_trim(element);
}

// Whether a list divided by commas has the word in it, in any case.
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
// What the parser calls
//

// HTTP1_FIELD_NONE: one that means nothing here. It is compared with names of its length only,
// mostly one, or none: that spares 1 % of a POST.
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

// As on_header_field(); whether a proxy has sent this is asked for by few.
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

// Lists may be divided among several lines.
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

// Once for each name, at the end of its line, without the blanks in front.
static int on_header_value(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;

    if (reading->field != HTTP1_FIELD_NONE) {
        note_value(reading, slice_trim_end(slice_of(at, len)));
    }
    return 0;
}

// The parser's own word about keep-alive is not taken: to it, Proxy-Connection is Connection, a tab
// behind a word belongs to it, and keep-alive wins over close on 1.0.
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

// To the parser, no bytes are the end of the input.
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

// The parser does not see the odd lines, which it would not take.
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

// The request line alone, which has passed the check: what the parser makes of the head is of no
// interest, and it may not even know the method.
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
