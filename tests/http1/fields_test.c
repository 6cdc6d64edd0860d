/* SPDX-License-Identifier: MIT */

// The meaning of a head: heads of every kind that makes a difference, compared with a simple
// reading of their lines, and with http-parser alone.

#include "http1/head.h"
#include "tests/support/with_cmocka.h"

#include <http_parser.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MOST 4096

static const char *const own[] = {"X-Own", "X-Own-2", "x"};
// Those in the table.
#define OWN_FIELD HTTP1_FIELD_COUNT
#define OWN_COUNT (sizeof own / sizeof *own)

// Reads a head without a malformed line; false where the parser says no.
static bool reads(const char *text, struct http1_fields *fields)
{
    struct http1_head_scan scan = {0};
    struct http1_names names;
    enum http1_head_result verdict;

    http1_names_begin(&names, own, OWN_COUNT);
    memset(fields, 0xff, sizeof *fields);
    verdict = http1_head_read(&scan, slice_str(text), HEAD_MOST, &names, fields);
    assert_true(verdict == HTTP1_HEAD_DONE || verdict == HTTP1_HEAD_REFUSED);
    assert_int_equal(fields->head_len, strlen(text));
    return verdict == HTTP1_HEAD_DONE;
}

static bool is(struct slice slice, const char *text)
{
    return slice_equal(slice, slice_str(text));
}

//
// Beside a plain reading
//

static const struct start {
    const char *method, *target;
    enum http1_method number;
    bool version_1_0;
} starts[] = {
    {"GET", "/f", HTTP1_GET, false},         {"POST", "/a%20b?c#d?e", HTTP1_POST, true},
    {"PUT", "//x:1/", HTTP1_PUT, false},     {"OPTIONS", "*", HTTP1_OPTIONS, false},
    {"GET", "http://h/f", HTTP1_GET, false}, {"DELETE", "x://", HTTP1_DELETE, false},
    {"HEAD", "f", HTTP1_HEAD_METHOD, false},
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
    "X-Own: \xff high\t\r\n",
    "\"X-Own\": passed over\r\n",
};

#define STARTS (sizeof starts / sizeof *starts)
#define LINES (sizeof lines / sizeof *lines)

struct heard {
    struct slice values[HTTP1_FIELD_MAX];
    unsigned counts[HTTP1_FIELD_MAX];
};

static struct slice trimmed(struct slice text)
{
    while (text.len > 0 && strchr(" \t", text.ptr[0])) {
        text = slice_from(text, 1);
    }
    while (text.len > 0 && strchr(" \t", text.ptr[text.len - 1])) {
        text.len--;
    }
    return text;
}

// One line of a head, without its end.
static void hear(struct heard *heard, const struct http1_names *names, struct slice line)
{
    size_t len = strcspn(line.ptr, ":");

    for (unsigned i = 0; i < names->count; i++) {
        if (http1_same_word(slice_of(line.ptr, len), names->names[i])) {
            heard->values[i] = trimmed(slice_from(line, len + 1));
            heard->counts[i]++;
        }
    }
}

static void hear_all(struct heard *heard, const char *text)
{
    struct http1_names names;

    *heard = (struct heard){.counts = {0}};
    http1_names_begin(&names, own, OWN_COUNT);
    for (const char *line = strstr(text, "\r\n") + 2; *line != '\r';
         line = strstr(line, "\r\n") + 2) {
        hear(heard, &names, slice_of(line, (size_t)(strstr(line, "\r\n") - line)));
    }
}

static int on_headers_complete(http_parser *parser)
{
    http_parser_pause(parser, 1);
    return 1;
}

// Whether the parser alone finds nothing wrong. It is not shown odd lines.
static bool parses(const char *text)
{
    static const http_parser_settings settings = {.on_headers_complete = on_headers_complete};
    http_parser parser;

    http_parser_init(&parser, HTTP_REQUEST);
    while (*text) {
        size_t len = (size_t)(strstr(text, "\r\n") - text) + 2;

        if (*text != '"') {
            (void)http_parser_execute(&parser, &settings, text, len);
        }
        text += len;
    }
    return HTTP_PARSER_ERRNO(&parser) == HPE_PAUSED;
}

static void values_are_as_heard(const struct http1_fields *fields, const struct heard *heard)
{
    struct slice length = heard->values[HTTP1_FIELD_CONTENT_LENGTH];

    for (unsigned i = 0; i < HTTP1_FIELD_COUNT + OWN_COUNT; i++) {
        assert_true(slice_equal(fields->values[i], heard->values[i]));
        assert_int_equal(http1_has(fields, i), heard->counts[i] > 0);
        assert_int_equal(http1_repeats(fields, i), heard->counts[i] > 1);
    }
    if (heard->counts[HTTP1_FIELD_CONTENT_LENGTH] < 2) {
        assert_int_equal(fields->length, length.len ? strtoull(length.ptr, NULL, 10) : 0);
    }
}

static void is_read_as_written(const struct start *start, const char *text)
{
    struct http1_fields fields;
    struct heard heard;
    bool good = parses(text);

    if (reads(text, &fields) != good) {
        fail_msg("%s is %s", text, good ? "refused, but parsed" : "read, but not parsed");
    }
    assert_int_equal(fields.method, start->number);
    assert_int_equal(fields.version_1_0, start->version_1_0);
    if (good) {
        hear_all(&heard, text);
        assert_true(is(fields.target, start->target));
        values_are_as_heard(&fields, &heard);
    }
}

static void a_head_is_read_as_it_is_written(void **state)
{
    char text[HEAD_MOST];

    (void)state;
    for (size_t i = 0; i < STARTS * LINES * LINES * LINES; i++) {
        const struct start *start = &starts[i % STARTS];

        (void)snprintf(text, sizeof text, "%s %s HTTP/1.%d\r\n%s%s%s\r\n", start->method,
                       start->target, start->version_1_0 ? 0 : 1, lines[i / STARTS % LINES],
                       lines[i / STARTS / LINES % LINES], lines[i / STARTS / LINES / LINES]);
        is_read_as_written(start, text);
    }
}

//
// Errors that the parser misses
//

// A row or more for each check that is ours. The parser alone takes all but the first, whose method
// it refuses as one that it does not know.
static const struct missed {
    const char *check, *text;
    enum http1_head_result verdict;
} all_missed[] = {
    {"method_is_token", "G(T / HTTP/1.1\r\n\r\n", HTTP1_HEAD_BAD},
    {"target_is_visible", "GET /\t HTTP/1.1\r\n\r\n", HTTP1_HEAD_BAD},
    {"target_is_visible", "GET /\x0c HTTP/1.1\r\n\r\n", HTTP1_HEAD_BAD},
    {"target_is_visible", "GET /\x80 HTTP/1.1\r\n\r\n", HTTP1_HEAD_BAD},
    {"target_is_visible", "GET  / HTTP/1.1\r\n\r\n", HTTP1_HEAD_BAD},
    {"version_is_valid", "GET /  HTTP/1.1\r\n\r\n", HTTP1_HEAD_BAD},
    {"version_is_valid", "GET /\r\n\r\n", HTTP1_HEAD_BAD},
    {"version_is_valid", "GET / HXXP/1.1\r\n\r\n", HTTP1_HEAD_BAD},
    {"version_is_known", "GET / HTTP/1.2\r\n\r\n", HTTP1_HEAD_VERSION},
    {"version_is_known", "GET / HTTP/2.0\r\n\r\n", HTTP1_HEAD_VERSION},
    {"line_ends_with_crlf", "GET / HTTP/1.1\n\r\n", HTTP1_HEAD_BAD},
    {"line_ends_with_crlf", "GET / HTTP/1.1\r\nX: y\n\r\n", HTTP1_HEAD_BAD},
    {"line_ends_with_crlf", "GET / HTTP/1.1\r\n\n", HTTP1_HEAD_BAD},
    {"line_has_no_bare_cr", "GET / HTTP/1.1\r\nX:\ry\r\n\r\n", HTTP1_HEAD_BAD},
    {"line_has_no_bare_cr", "GET / HTTP/1.1\r\n\rX: y\r\n\r\n", HTTP1_HEAD_BAD},
    {"line_is_not_folded", "GET / HTTP/1.1\r\nX: y\r\n z\r\n\r\n", HTTP1_HEAD_BAD},
    {"line_is_not_folded", "GET / HTTP/1.1\r\nX:\r\n\tz\r\n\r\n", HTTP1_HEAD_BAD},
    {"name_has_no_space", "GET / HTTP/1.1\r\nX : y\r\n\r\n", HTTP1_HEAD_BAD},
    {"name_has_no_space", "GET / HTTP/1.1\r\nX Y: z\r\n\r\n", HTTP1_HEAD_BAD},
    {"value_begins_with_text", "GET / HTTP/1.1\r\nX: \x01\r\n\r\n", HTTP1_HEAD_BAD},
    {"value_begins_with_text", "GET / HTTP/1.1\r\nX:\x7fy\r\n\r\n", HTTP1_HEAD_BAD},
};

static void what_the_parser_misses_is_refused(void **state)
{
    static const http_parser_settings settings = {.on_headers_complete = on_headers_complete};

    (void)state;
    for (size_t i = 0; i < sizeof all_missed / sizeof *all_missed; i++) {
        const struct missed *row = &all_missed[i];
        struct http1_head_scan scan = {0};
        struct http1_names names;
        struct http1_fields fields;
        http_parser parser;

        http1_names_begin(&names, own, OWN_COUNT);
        if (http1_head_read(&scan, slice_str(row->text), HEAD_MOST, &names, &fields) !=
            row->verdict) {
            fail_msg("%s: %s", row->check, row->text);
        }
        http_parser_init(&parser, HTTP_REQUEST);
        (void)http_parser_execute(&parser, &settings, row->text, strlen(row->text));
        assert_int_equal(HTTP_PARSER_ERRNO(&parser), i == 0 ? HPE_INVALID_METHOD : HPE_PAUSED);
    }
}

// The same for framing, of heads that the parser takes.
static void framing_that_the_parser_misses_is_refused(void **state)
{
    static const struct {
        const char *check, *text;
        unsigned status;
    } rows[] = {
        {"has_one_host", "GET / HTTP/1.1\r\n\r\n", 400},
        {"has_one_host", "GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400},
        {"has_one_coding",
         "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
         "Transfer-Encoding: chunked\r\n\r\n",
         400},
        {"expects_only_continue", "GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n", 417},
        {"version_has_coding", "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"coding_is_chunked", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x, chunked\r\n\r\n",
         501},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http1_fields fields;
        struct http1_framing framing;
        struct http1_refusal refusal = {0, NULL};

        if (!reads(rows[i].text, &fields) || http1_framing_read(&fields, &framing, &refusal) ||
            refusal.status != rows[i].status) {
            fail_msg("%s: %s", rows[i].check, rows[i].text);
        }
    }
}

//
// Names
//

static const char *name_of(unsigned field)
{
    static struct http1_names names;

    http1_names_begin(&names, own, OWN_COUNT);
    return names.names[field].ptr;
}

static void every_header_is_found_in_any_case(void **state)
{
    char text[HEAD_MOST];

    (void)state;
    for (unsigned i = 0; i < HTTP1_FIELD_COUNT + OWN_COUNT; i++) {
        struct http1_fields fields;

        (void)snprintf(text, sizeof text, "GET /f HTTP/1.1\r\n%s: 1\r\n\r\n", name_of(i));
        assert_true(reads(text, &fields));
        assert_int_equal(fields.present, HTTP1_BIT(i));
        assert_true(is(fields.values[i], "1"));
        for (char *at = text + strlen("GET /f HTTP/1.1\r\n"); *at != ':'; at++) {
            *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
        }
        assert_true(reads(text, &fields));
        assert_int_equal(fields.present, HTTP1_BIT(i));
        (void)snprintf(text, sizeof text, "GET /f HTTP/1.1\r\n%sx: 1\r\n\r\n", name_of(i));
        assert_true(reads(text, &fields));
        assert_int_equal(fields.present, 0);
    }
}

static void a_name_that_is_longer_than_any_of_ours_means_nothing(void **state)
{
    char name[HEAD_MOST / 2], text[HEAD_MOST];
    struct http1_fields fields;

    (void)state;
    for (size_t len = HTTP1_NAME_MAX; len < sizeof name - 1; len = len * 2 + 1) {
        memset(name, 'X', len);
        name[len] = '\0';
        (void)snprintf(text, sizeof text, "GET /f HTTP/1.1\r\n%s: 1\r\n\r\n", name);
        assert_true(reads(text, &fields));
        assert_int_equal(fields.present, 0);
    }
}

//
// The request line
//

// The reply says that the method is unknown, regardless of the rest of the head.
static void another_method_has_a_target_and_a_version(void **state)
{
    static const char *const methods[] = {"PATCH", "CONNECT", "GETX", "get", "X"};
    static const char *const rests[] = {"", "Content-Length: x\r\n", "\"odd\": y\r\n"};
    char text[HEAD_MOST];

    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        for (size_t j = 0; j < sizeof rests / sizeof *rests; j++) {
            for (int minor = 0; minor < 2; minor++) {
                struct http1_fields fields;

                (void)snprintf(text, sizeof text, "%s a:/f HTTP/1.%d\r\n%s\r\n", methods[i], minor,
                               rests[j]);
                assert_true(reads(text, &fields));
                assert_int_equal(fields.method, HTTP1_OTHER_METHOD);
                assert_int_equal(fields.version_1_0, minor == 0);
                assert_true(is(fields.target, "a:/f"));
            }
        }
    }
}

//
// Lists
//

static void version_and_connection_say_whether_it_stays(void **state)
{
    static const struct {
        const char *headers;
        bool stays_on_1_0, stays_on_1_1;
    } rows[] = {
        {"", false, true},
        {"Connection: close\r\n", false, false},
        {"Connection: keep-alive\r\n", true, true},
        {"connection: Keep-Alive\r\n", true, true},
        {"Connection: x, close ,y\r\n", false, false},
        {"Connection: closed\r\n", false, true},
        {"Connection: keep-alive\r\nConnection: x\r\n", true, true},
        {"Connection: x\r\nConnection: close\r\n", false, false},
        // Here the parser's own word is another.
        {"Connection: keep-alive, close\r\n", false, false},
        {"Connection: close\t\r\n", false, false},
        {"Connection: keep-alive\t\r\n", true, true},
        {"Proxy-Connection: keep-alive\r\n", false, true},
        {"Proxy-Connection: close\r\n", false, true},
    };
    char text[HEAD_MOST];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http1_fields fields;

        (void)snprintf(text, sizeof text, "GET /f HTTP/1.0\r\n%s\r\n", rows[i].headers);
        assert_true(reads(text, &fields));
        assert_int_equal(fields.keep_alive, rows[i].stays_on_1_0);
        (void)snprintf(text, sizeof text, "GET /f HTTP/1.1\r\n%s\r\n", rows[i].headers);
        assert_true(reads(text, &fields));
        assert_int_equal(fields.keep_alive, rows[i].stays_on_1_1);
    }
}

static void accept_may_name_events_anywhere(void **state)
{
    static const struct {
        const char *headers;
        bool events;
    } rows[] = {
        {"", false},
        {"Accept: */*\r\n", false},
        {"Accept: text/event-stream\r\n", true},
        {"Accept: text/html,\tTEXT/event-stream ;q=0.1\r\n", true},
        {"Accept: text/event-stream\r\nAccept: */*\r\n", true},
        {"Accept: text/event-streams\r\n", false},
        {"X-Own: text/event-stream\r\n", false},
    };
    char text[HEAD_MOST];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http1_fields fields;

        (void)snprintf(text, sizeof text, "GET /f HTTP/1.1\r\n%s\r\n", rows[i].headers);
        assert_true(reads(text, &fields));
        assert_int_equal(fields.events, rows[i].events);
    }
}

// Whether these headers show that a proxy speaks for somebody.
static bool is_proxied(const char *headers, bool asked)
{
    struct http1_head_scan scan = {0};
    struct http1_names names;
    struct http1_fields fields;
    char text[500];
    int len = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", headers);

    http1_names_begin(&names, NULL, 0);
    names.note_proxies = asked;
    assert_int_equal(
        http1_head_read(&scan, slice_of(text, (size_t)len), sizeof text, &names, &fields),
        HTTP1_HEAD_DONE);
    return fields.proxied;
}

static void a_proxy_that_speaks_for_somebody_is_known_by_its_headers(void **state)
{
    static const char *const proxied[] = {"Forwarded: for=192.0.2.1\r\n",
                                          "X-Forwarded-For: 192.0.2.1\r\n",
                                          "x-forwarded-proto: https\r\n",
                                          "X-Forwarded-Anything:\r\n",
                                          "Via: 1.1 proxy\r\n",
                                          "X-REAL-IP: 192.0.2.1\r\n",
                                          "Accept: */*\r\nvia: 2 x\r\nX: y\r\n"};
    static const char *const bare[] = {"", "X-Forward: x\r\n", "Viable: 1\r\n", "V: Via\r\n",
                                       "X-Real: x\r\nAccept: Forwarded\r\n"};

    (void)state;
    for (size_t i = 0; i < sizeof proxied / sizeof *proxied; i++) {
        assert_true(is_proxied(proxied[i], true));
        assert_false(is_proxied(proxied[i], false));
    }
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        assert_false(is_proxied(bare[i], true));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_read_as_it_is_written),
        cmocka_unit_test(what_the_parser_misses_is_refused),
        cmocka_unit_test(framing_that_the_parser_misses_is_refused),
        cmocka_unit_test(every_header_is_found_in_any_case),
        cmocka_unit_test(a_name_that_is_longer_than_any_of_ours_means_nothing),
        cmocka_unit_test(another_method_has_a_target_and_a_version),
        cmocka_unit_test(version_and_connection_say_whether_it_stays),
        cmocka_unit_test(a_proxy_that_speaks_for_somebody_is_known_by_its_headers),
        cmocka_unit_test(accept_may_name_events_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
