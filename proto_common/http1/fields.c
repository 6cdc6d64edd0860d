/* SPDX-License-Identifier: MIT */
#include "proto_common/http1/fields.h"

#include <http_parser.h>
#include <string.h>
#include <strings.h>

struct reading {
    struct http1_fields *fields;
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

// Letters differ in one bit from themselves in the other case.
static bool may_be_same(char a, char b)
{
    return ((a ^ b) & ~('a' ^ 'A')) == 0;
}

bool http1_same_word(struct slice a, struct slice b)
{
    if (a.len != b.len) {
        return false;
    }
    // Words of one length that differ mostly do at their ends, and those that do not are mostly
    // written alike.
    return a.len == 0 ||
           (may_be_same(a.ptr[a.len - 1], b.ptr[a.len - 1]) &&
            (memcmp(a.ptr, b.ptr, a.len) == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0));
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

bool http1_list_has(struct slice list, struct slice word)
{
    while (list.len > 0) {
        if (http1_same_word(next_element(&list), word)) {
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
        if (http1_same_word(type, SLICE("text/event-stream"))) {
            return true;
        }
    }
    return false;
}

//
// Reading
//

// How a name is found: those that mean something and have that many bytes, a bit for each. Most
// lines are compared with one name, or none.
#define BIT(name) WEB_BIT(WEB_FIELD_##name)
static const uint32_t of_length[] = {
    [4] = BIT(HOST),
    [6] = BIT(EXPECT) | BIT(ACCEPT) | BIT(ORIGIN),
    [7] = BIT(UPGRADE) | BIT(REFERER),
    [10] = BIT(CONNECTION),
    [13] = BIT(AUTHORIZATION) | BIT(LAST_EVENT_ID) | BIT(TTR),
    [14] = BIT(CONTENT_LENGTH) | BIT(SEC_FETCH_SITE),
    [15] = BIT(DELAY) | BIT(EPOCH),
    [16] = BIT(UNIQUE),
    [17] = BIT(TRANSFER_ENCODING) | BIT(TIMEOUT),
    [18] = BIT(PRIORITY),
    [20] = BIT(BACKGROUND),
};

// WEB_FIELD_COUNT: one that means nothing here.
static enum web_field field_of(struct slice name)
{
    uint32_t left = name.len < sizeof of_length / sizeof *of_length ? of_length[name.len] : 0;

    for (; left; left &= left - 1) {
        int field = __builtin_ctz(left);

        if (http1_same_word(name, names[field])) {
            return (enum web_field)field;
        }
    }
    return WEB_FIELD_COUNT;
}

static enum http1_method method_of(struct slice name)
{
    static const struct slice methods[HTTP1_OTHER_METHOD] = {
        [HTTP1_GET] = {"GET", 3},          [HTTP1_POST] = {"POST", 4},
        [HTTP1_PUT] = {"PUT", 3},          [HTTP1_DELETE] = {"DELETE", 6},
        [HTTP1_HEAD_METHOD] = {"HEAD", 4}, [HTTP1_OPTIONS] = {"OPTIONS", 7},
    };

    for (int i = 0; i < HTTP1_OTHER_METHOD; i++) {
        if (slice_equal(name, methods[i])) {
            return (enum http1_method)i;
        }
    }
    return HTTP1_OTHER_METHOD;
}

// Lists may be divided among several lines.
static void read_header(struct reading *reading, const struct http1_header *header)
{
    struct http1_fields *fields = reading->fields;
    enum web_field field = field_of(header->name);
    struct slice value;

    if (field == WEB_FIELD_COUNT) {
        return;
    }
    value = trim(header->value);
    fields->values[field] = value;
    fields->repeated |= fields->present & WEB_BIT(field);
    fields->present |= WEB_BIT(field);
    if (field == WEB_FIELD_CONNECTION) {
        reading->close = reading->close || http1_list_has(value, SLICE("close"));
        reading->keep_alive = reading->keep_alive || http1_list_has(value, SLICE("keep-alive"));
    } else if (field == WEB_FIELD_ACCEPT) {
        fields->stream = fields->stream || names_stream(value);
    }
}

//
// The parser
//
// Where names and values stand is known from the check of the lines. Whether they are a request as
// a whole (the form of the target, how long the body is) is for the parser to say.
//

static int on_headers_complete(http_parser *parser)
{
    http_parser_pause(parser, 1);
    return 1;
}

// To the parser, no bytes are the end of the input.
static void parse(http_parser *parser, const char *from, const char *end)
{
    static const http_parser_settings settings = {.on_headers_complete = on_headers_complete};

    if (from < end) {
        (void)http_parser_execute(parser, &settings, from, (size_t)(end - from));
    }
}

// It does not see the lines that say nothing, which it would not take.
static bool parser_agrees(const struct http1_head *head)
{
    const char *from = head->bytes.ptr;
    http_parser parser;

    http_parser_init(&parser, HTTP_REQUEST);
    for (unsigned i = 0; i < head->count; i++) {
        const struct slice line = head->headers[i].value;

        if (head->headers[i].name.len == 0) {
            parse(&parser, from, line.ptr);
            from = slice_end(line) + 2;
        }
    }
    parse(&parser, from, slice_end(head->bytes));
    return HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED;
}

bool http1_fields_read(const struct http1_head *head, struct http1_fields *fields)
{
    struct reading reading = {.fields = fields};

    *fields = (struct http1_fields){
        .method = method_of(head->method),
        .version_1_0 = head->version.ptr[head->version.len - 1] == '0',
        .target = head->target,
    };
    if (fields->method == HTTP1_OTHER_METHOD) {
        return true;
    }
    for (unsigned i = 0; i < head->count; i++) {
        read_header(&reading, &head->headers[i]);
    }
    fields->keep_alive = !reading.close && (!fields->version_1_0 || reading.keep_alive);
    return parser_agrees(head);
}
