/* SPDX-License-Identifier: MIT */
#include "proto_http/fields.h"

#include <http_parser.h>
#include <string.h>
#include <strings.h>

struct reading {
    struct web_fields *fields;
    struct slice name; // of the header that is being read
    // What Connection says, in one line or in several.
    bool close, keep_alive;
};

static const struct slice names[WEB_FIELD_COUNT] = {
#define X(name, text) [WEB_FIELD_##name] = {text, sizeof(text) - 1},
    WEB_FIELDS(X)
#undef X
};

const char *web_field_name(enum web_field field)
{
    return names[field].ptr;
}

bool web_same_word(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

static struct slice trim(struct slice text)
{
    while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t')) {
        text = slice_from(text, 1);
    }
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

// The next element of a list divided by commas, which is taken off it.
static struct slice next_element(struct slice *list)
{
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    struct slice element = slice_of(list->ptr, len);

    *list = slice_from(*list, comma ? len + 1 : len);
    return trim(element);
}

bool web_list_has(struct slice list, struct slice word)
{
    while (list.len > 0) {
        if (web_same_word(next_element(&list), word)) {
            return true;
        }
    }
    return false;
}

// With parameters, too.
static bool names_stream(struct slice accept)
{
    while (accept.len > 0) {
        struct slice type = next_element(&accept);
        const char *parameters = type.len ? memchr(type.ptr, ';', type.len) : NULL;

        if (parameters) {
            type = trim(slice_of(type.ptr, (size_t)(parameters - type.ptr)));
        }
        if (web_same_word(type, SLICE("text/event-stream"))) {
            return true;
        }
    }
    return false;
}

static int on_url(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;

    reading->fields->target = slice_of(at, len);
    return 0;
}

static int on_name(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;

    reading->name = slice_of(at, len);
    return 0;
}

// Lists may be divided among several lines.
static void read_lists(struct reading *reading, struct slice value)
{
    if (web_same_word(reading->name, names[WEB_FIELD_CONNECTION])) {
        reading->close = reading->close || web_list_has(value, SLICE("close"));
        reading->keep_alive = reading->keep_alive || web_list_has(value, SLICE("keep-alive"));
    } else if (web_same_word(reading->name, names[WEB_FIELD_ACCEPT])) {
        reading->fields->stream = reading->fields->stream || names_stream(value);
    }
}

static int on_value(http_parser *parser, const char *at, size_t len)
{
    struct reading *reading = parser->data;
    struct web_fields *fields = reading->fields;

    for (int i = 0; i < WEB_FIELD_COUNT; i++) {
        if (reading->name.len == names[i].len && web_same_word(reading->name, names[i])) {
            fields->values[i] = trim(slice_of(at, len));
            fields->counts[i] = (uint8_t)(fields->counts[i] + (fields->counts[i] < UINT8_MAX));
        }
    }
    read_lists(reading, slice_of(at, len));
    return 0;
}

// The body is not for the parser.
static int on_headers_complete(http_parser *parser)
{
    http_parser_pause(parser, 1);
    return 1;
}

static enum web_method method_of(struct slice head)
{
    static const struct slice methods[WEB_OTHER_METHOD] = {
        [WEB_GET] = {"GET ", 4},          [WEB_POST] = {"POST ", 5},
        [WEB_PUT] = {"PUT ", 4},          [WEB_DELETE] = {"DELETE ", 7},
        [WEB_HEAD_METHOD] = {"HEAD ", 5}, [WEB_OPTIONS] = {"OPTIONS ", 8},
    };

    for (int i = 0; i < WEB_OTHER_METHOD; i++) {
        if (head.len >= methods[i].len && memcmp(head.ptr, methods[i].ptr, methods[i].len) == 0) {
            return (enum web_method)i;
        }
    }
    return WEB_OTHER_METHOD;
}

// Of a method that the parser may not know.
static struct slice target_of(struct slice head)
{
    const char *start = (const char *)memchr(head.ptr, ' ', head.len) + 1;
    const char *end = memchr(start, ' ', head.len - (size_t)(start - head.ptr));

    return slice_of(start, (size_t)(end - start));
}

// The request line has been looked at: the version's last digit is its last byte.
static bool is_version_1_0(struct slice head)
{
    const char *end = memchr(head.ptr, '\r', head.len);

    return end && end > head.ptr && end[-1] == '0';
}

bool web_fields_read(struct slice head, struct web_fields *fields)
{
    static const http_parser_settings settings = {
        .on_url = on_url,
        .on_header_field = on_name,
        .on_header_value = on_value,
        .on_headers_complete = on_headers_complete,
    };
    struct reading reading = {.fields = fields};
    http_parser parser;

    *fields = (struct web_fields){
        .method = method_of(head),
        .version_1_0 = is_version_1_0(head),
    };
    if (fields->method == WEB_OTHER_METHOD) {
        fields->target = target_of(head);
        return true;
    }
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = &reading;
    (void)http_parser_execute(&parser, &settings, head.ptr, head.len);
    if (HTTP_PARSER_ERRNO(&parser) != HPE_PAUSED) {
        return false;
    }
    fields->keep_alive = !reading.close && (!fields->version_1_0 || reading.keep_alive);
    return true;
}
