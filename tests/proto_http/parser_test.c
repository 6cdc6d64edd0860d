/* SPDX-License-Identifier: MIT */

// What is read without http-parser, it reads alike: headers and paths of every kind that makes a
// difference, judged by both.

#include "proto_common/http1/fields.h"
#include "proto_http/target.h"

#include <http_parser.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define HEAD_MOST 4096

//
// Heads
//

static const char *const starts[] = {
    "GET /f HTTP/1.1\r\n",    "POST /a%20b?c#d?e HTTP/1.0\r\n", "PUT //x:1/ HTTP/1.1\r\n",
    "OPTIONS * HTTP/1.1\r\n", "GET http://h/f HTTP/1.1\r\n",    "DELETE x:// HTTP/1.1\r\n",
    "HEAD f HTTP/1.1\r\n",
};

static const char *const lines[] = {
    "",
    "Host: localhost\r\n",
    "hOST:\r\n",
    "Content-Length: 64\r\n",
    "content-length:0\r\n",
    "Content-Length:  \t 00064\r\n",
    "Content-Length: 64 \r\n",
    "Content-Length: 64\t\r\n",
    "Content-Length:\r\n",
    "Content-Length: 6 4\r\n",
    "Content-Length: +6\r\n",
    "Content-Length: 6,6\r\n",
    "Content-Length: 6\x80\r\n",
    "Content-Length: 999999999999999999\r\n",
    "Content-Length: 1844674407370955160\r\n",
    "Content-Length: 18446744073709551615\r\n",
    "Content-Length: 18446744073709551616\r\n",
    "Content-Lengthy: x\r\n",
    "Transfer-Encoding: chunked\r\n",
    "transfer-encoding: gzip, chunked\r\n",
    "Transfer-Encoding:\r\n",
    "Connection: close, Upgrade \t\r\n",
    "Upgrade: h2c\r\n",
    "Proxy-Connection: keep-alive\r\n",
    "X-Gearman-Priority: \xff high\t\r\n",
};

#define STARTS (sizeof starts / sizeof *starts)
#define LINES (sizeof lines / sizeof *lines)

struct heard {
    struct slice target, name;
    struct slice values[WEB_FIELD_COUNT];
    unsigned counts[WEB_FIELD_COUNT];
};

static int on_url(http_parser *parser, const char *at, size_t len)
{
    struct heard *heard = parser->data;

    heard->target = slice_of(at, len);
    return 0;
}

static int on_name(http_parser *parser, const char *at, size_t len)
{
    struct heard *heard = parser->data;

    heard->name = slice_of(at, len);
    return 0;
}

static int on_value(http_parser *parser, const char *at, size_t len)
{
    struct heard *heard = parser->data;

    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t')) {
        len--;
    }
    for (int i = 0; i < WEB_FIELD_COUNT; i++) {
        const char *name = web_field_name((enum web_field)i);

        if (http1_same_word(heard->name, slice_of(name, strlen(name)))) {
            heard->values[i] = slice_of(at, len);
            heard->counts[i]++;
        }
    }
    return 0;
}

static int on_headers_complete(http_parser *parser)
{
    http_parser_pause(parser, 1);
    return 1;
}

// What the parser makes of it; false where it finds something wrong.
static bool parse(struct slice head, struct heard *heard)
{
    static const http_parser_settings settings = {.on_url = on_url,
                                                  .on_header_field = on_name,
                                                  .on_header_value = on_value,
                                                  .on_headers_complete = on_headers_complete};
    http_parser parser;

    *heard = (struct heard){.counts = {0}};
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = heard;
    (void)http_parser_execute(&parser, &settings, head.ptr, head.len);
    return HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED;
}

static void is_read_as_it_is_parsed(const char *text)
{
    struct http1_head_scan scan = {0};
    struct http1_head head;
    struct http1_fields fields;
    struct heard heard;
    bool good;

    assert_int_equal(http1_head_check(&scan, slice_of(text, strlen(text)), HEAD_MOST, &head),
                     HTTP1_HEAD_DONE);
    good = parse(head.bytes, &heard);
    if (http1_fields_read(&head, &fields) != good) {
        fail_msg("%s is %s", text, good ? "refused, but parsed" : "read, but not parsed");
    }
    if (!good) {
        return;
    }
    assert_true(slice_equal(fields.target, heard.target));
    for (int i = 0; i < WEB_FIELD_COUNT; i++) {
        assert_true(slice_equal(fields.values[i], heard.values[i]));
        assert_int_equal(http1_has(&fields, (enum web_field)i), heard.counts[i] > 0);
        assert_int_equal(http1_repeats(&fields, (enum web_field)i), heard.counts[i] > 1);
    }
}

static void heads_are_read_as_the_parser_reads_them(void **state)
{
    char text[HEAD_MOST];

    (void)state;
    for (size_t i = 0; i < STARTS * LINES * LINES * LINES; i++) {
        (void)snprintf(text, sizeof text, "%s%s%s%s\r\n", starts[i % STARTS],
                       lines[i / STARTS % LINES], lines[i / STARTS / LINES % LINES],
                       lines[i / STARTS / LINES / LINES]);
        is_read_as_it_is_parsed(text);
    }
}

static void every_header_is_found_in_any_case(void **state)
{
    char text[HEAD_MOST];

    (void)state;
    for (int i = 0; i < WEB_FIELD_COUNT; i++) {
        const char *name = web_field_name((enum web_field)i);

        (void)snprintf(text, sizeof text, "GET /f HTTP/1.1\r\n%s: 1\r\n\r\n", name);
        is_read_as_it_is_parsed(text);
        for (char *at = text + strlen("GET /f HTTP/1.1\r\n"); *at != ':'; at++) {
            *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
        }
        is_read_as_it_is_parsed(text);
        (void)snprintf(text, sizeof text, "GET /f HTTP/1.1\r\n%sx: 1\r\n\r\n", name);
        is_read_as_it_is_parsed(text);
    }
}

//
// Targets
//

// A target that names a server goes through the parser: the path behind it means the same alone.
static void is_divided_as_by_the_parser(const char *path)
{
    static struct web_target alone, whole;
    char text[HEAD_MOST];
    int len = snprintf(text, sizeof text, "http://h%s", path);

    web_target_read(slice_of(path, strlen(path)), &alone);
    web_target_read(slice_of(text, (size_t)len), &whole);
    if (alone.place != whole.place || alone.has_query != whole.has_query) {
        fail_msg("%s is another thing alone", path);
    }
    assert_true(slice_equal(alone.query, whole.query));
    assert_int_equal(alone.name_len, whole.name_len);
    assert_memory_equal(alone.name, whole.name, whole.name_len);
}

static void paths_are_divided_as_by_the_parser(void **state)
{
    char path[] = "/abc";

    (void)state;
    for (int a = '!'; a <= '~'; a++) {
        for (int b = '!'; b <= '~'; b++) {
            path[1] = (char)a;
            path[2] = (char)b;
            is_divided_as_by_the_parser(path);
        }
    }
}

static void paths_of_more_parts_are_too(void **state)
{
    static const char *const parts[] = {"/", "?", "#", "%41", "%00", "%", "-/jobs/", "x:1@y"};
    const size_t count = sizeof parts / sizeof *parts;
    char path[HEAD_MOST];

    (void)state;
    for (size_t i = 0; i < count * count * count * count; i++) {
        (void)snprintf(path, sizeof path, "/%s%s%s%s", parts[i % count], parts[i / count % count],
                       parts[i / count / count % count], parts[i / count / count / count]);
        is_divided_as_by_the_parser(path);
    }
}

// As long as a name may be, written with escapes and without, and longer.
static void long_paths_are_too(void **state)
{
    (void)state;
    for (size_t len = QUEUE_NAME_MAX - 1; len <= QUEUE_NAME_MAX + 1; len++) {
        char path[HEAD_MOST] = "/";

        memset(path + 1, 'x', len);
        is_divided_as_by_the_parser(path);
        for (size_t i = 0; i < len; i++) {
            (void)snprintf(path + 1 + 3 * i, sizeof path - 1 - 3 * i, "%%78");
        }
        is_divided_as_by_the_parser(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_read_as_the_parser_reads_them),
        cmocka_unit_test(every_header_is_found_in_any_case),
        cmocka_unit_test(paths_are_divided_as_by_the_parser),
        cmocka_unit_test(paths_of_more_parts_are_too),
        cmocka_unit_test(long_paths_are_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
