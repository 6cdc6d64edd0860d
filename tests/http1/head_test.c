/* SPDX-License-Identifier: MIT */

// The bytes of a head: which are allowed at which place, where a head ends, and which of its lines
// are ignored.

#include "http1/head.h"
#include "tests/support/with_cmocka.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MOST 4096
#define START "GET / HTTP/1.1\r\n"
// Longer than what is looked at in one go.
#define VALUE_LEN 21

// Headers that are read.
enum { FIELD_A = HTTP1_FIELD_COUNT, FIELD_B_C, FIELD_D };

static enum http1_head_result read_more(struct http1_head_scan *scan, struct slice input,
                                        struct http1_fields *fields)
{
    static const char *const own[] = {"A", "B-c", "D"};
    struct http1_names names;

    http1_names_begin(&names, own, sizeof own / sizeof *own);
    return http1_head_read(scan, input, HEAD_MOST, &names, fields);
}

static enum http1_head_result read_whole(struct slice input, struct http1_fields *fields)
{
    struct http1_head_scan scan = {0};

    return read_more(&scan, input, fields);
}

struct text {
    size_t len;
    char bytes[HEAD_MOST];
};

static void add(struct text *text, struct slice part)
{
    assert_true(part.len <= sizeof text->bytes - text->len);
    memcpy(text->bytes + text->len, part.ptr, part.len);
    text->len += part.len;
}

// Whether it is a good head with the byte between the two.
static bool passes(struct slice before, int byte, struct slice behind)
{
    char one = (char)byte;
    struct text text = {.len = 0};
    struct http1_fields fields;

    add(&text, before);
    add(&text, slice_of(&one, 1));
    add(&text, behind);
    return read_whole(slice_of(text.bytes, text.len), &fields) == HTTP1_HEAD_DONE;
}

//
// Bytes
//

static bool is_token(int byte)
{
    bool letter = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');

    return letter || (byte >= '0' && byte <= '9') ||
           (byte != 0 && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

static void a_name_and_a_method_have_bytes_of_tokens(void **state)
{
    (void)state;
    for (int byte = 0; byte <= UCHAR_MAX; byte++) {
        // A colon ends the name, a blank the method. A name with another byte that can be seen is
        // passed over.
        assert_int_equal(passes(SLICE(START "X"), byte, SLICE("X: y\r\n\r\n")),
                         byte > ' ' && byte < 0x7f);
        assert_int_equal(passes(SLICE("X"), byte, SLICE("X / HTTP/1.1\r\n\r\n")), is_token(byte));
    }
}

static void a_target_has_bytes_that_can_be_seen(void **state)
{
    (void)state;
    for (int byte = 0; byte <= UCHAR_MAX; byte++) {
        assert_int_equal(passes(SLICE("GET /"), byte, SLICE("x HTTP/1.1\r\n\r\n")),
                         byte > ' ' && byte < 0x7f);
    }
}

static void a_value_has_text_at_every_place(void **state)
{
    (void)state;
    for (size_t place = 0; place < VALUE_LEN; place++) {
        struct text before = {.len = 0}, behind = {.len = 0};

        // The neighbours are the first and the last bytes that are text.
        add(&before, SLICE(START "X:"));
        for (size_t i = 0; i < place; i++) {
            add(&before, i % 2 ? SLICE(" ") : SLICE("\xff"));
        }
        for (size_t i = place + 1; i < VALUE_LEN; i++) {
            add(&behind, i % 2 ? SLICE("~") : SLICE("\x80"));
        }
        add(&behind, SLICE("\r\n\r\n"));
        for (int byte = 0; byte <= UCHAR_MAX; byte++) {
            assert_int_equal(passes(slice_of(before.bytes, before.len), byte,
                                    slice_of(behind.bytes, behind.len)),
                             byte == '\t' || (byte >= ' ' && byte != 0x7f));
        }
    }
}

//
// Valid heads
//

static bool is(struct slice slice, const char *text)
{
    return slice_equal(slice, slice_str(text));
}

#define HEAD "POST /a/b?c HTTP/1.0\r\nHost: x:80 \t\r\n\"A\": b\r\nB-c::d: e\r\n\r\n"
#define BODY "\"A\": b\r\n"

static void ends_at_its_empty_line(const struct http1_fields *fields, const char *input)
{
    assert_int_equal(fields->head_len, strlen(HEAD));
    assert_ptr_equal(fields->target.ptr, input + strlen("POST "));
    assert_true(is(fields->target, "/a/b?c"));
    assert_true(is(fields->values[HTTP1_FIELD_HOST], "x:80"));
    assert_false(http1_has(fields, FIELD_A));
    assert_true(is(fields->values[FIELD_B_C], ":d: e"));
}

static void a_head_ends_at_its_empty_line(void **state)
{
    static const char input[] = HEAD BODY;
    struct http1_fields fields;

    (void)state;
    assert_int_equal(read_whole(slice_of(input, sizeof input - 1), &fields), HTTP1_HEAD_DONE);
    ends_at_its_empty_line(&fields, input);
}

// Each time at another address, as where a buffer has to grow.
static void a_head_may_come_in_pieces(void **state)
{
    const struct slice whole = SLICE(HEAD);

    (void)state;
    for (size_t first = 0; first < whole.len; first++) {
        struct http1_head_scan scan = {0};
        struct http1_fields fields;
        char *part = malloc(first + 1);
        char *all = malloc(whole.len);

        assert_non_null(part);
        assert_non_null(all);
        memcpy(part, whole.ptr, first);
        memcpy(all, whole.ptr, whole.len);
        assert_int_equal(read_more(&scan, slice_of(part, first), &fields), HTTP1_HEAD_MORE);
        memset(part, 0, first);
        free(part);
        assert_int_equal(read_more(&scan, slice_of(all, whole.len), &fields), HTTP1_HEAD_DONE);
        ends_at_its_empty_line(&fields, all);
        free(all);
    }
}

// A malformed line is refused before the head is complete.
static void a_malformed_line_is_refused_when_it_has_come(void **state)
{
    static const char *const lines[] = {"X: a\x01\r\n", "X: \x01\r\n",     "X Y: z\r\n", "X\r\n",
                                        ": y\r\n",      "\"Host\": x\r\n", "X: y\n"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct http1_head_scan scan = {0};
        struct text text = {.len = 0};
        struct http1_fields fields;

        add(&text, SLICE(START "Content-Length: x\r\n"));
        assert_int_equal(read_more(&scan, slice_of(text.bytes, text.len), &fields),
                         HTTP1_HEAD_MORE);
        add(&text, slice_str(lines[i]));
        assert_int_equal(read_more(&scan, slice_of(text.bytes, text.len), &fields), HTTP1_HEAD_BAD);
    }
}

// Whether a line with that name is ignored.
static bool is_ignored(struct slice name)
{
    struct text text = {.len = 0};
    struct http1_fields fields;

    add(&text, SLICE(START "A: b\r\n"));
    add(&text, name);
    add(&text, SLICE(": c\r\nD: e\r\n\r\n"));
    if (read_whole(slice_of(text.bytes, text.len), &fields) != HTTP1_HEAD_DONE) {
        return false;
    }
    assert_int_equal(fields.head_len, text.len);
    assert_int_equal(fields.present, HTTP1_BIT(FIELD_A) | HTTP1_BIT(FIELD_D));
    assert_true(is(fields.values[FIELD_A], "b") && is(fields.values[FIELD_D], "e"));
    return true;
}

static void a_line_whose_name_is_no_token_is_ignored(void **state)
{
    char header[] = "?X-Gearman-Unique";
    char name[300];

    (void)state;
    for (int byte = '!'; byte <= '~'; byte++) {
        header[0] = (char)byte;
        assert_int_equal(is_ignored(slice_of(header, 17)), byte != ':');
    }
    memset(name, '@', sizeof name);
    assert_true(is_ignored(slice_of(name, 256)));
    assert_false(is_ignored(slice_of(name, 257)));
}

// In a row, as the first lines and as the last ones.
static void all_lines_without_a_token_are_ignored(void **state)
{
    struct http1_fields fields;

    (void)state;
    assert_int_equal(read_whole(SLICE(START "@a: 1\r\n@b:\r\nA: 3\r\n@d: 4\r\n\r\n"), &fields),
                     HTTP1_HEAD_DONE);
    assert_int_equal(fields.present, HTTP1_BIT(FIELD_A));
    assert_true(is(fields.values[FIELD_A], "3"));
}

static void an_ignored_name_does_not_resemble_one_of_framing(void **state)
{
    static const char *const names[] = {
        "\"Content-Length\"",  "\"content-length",    "Content-Len@gth", "X@Transfer-Encoding",
        "Transfer-Encoding@X", "T@r@ansfer_Encoding", "\"Host\"",        "X@Hostname",
        "\"Connection",        "\"Trailer\"",         "\"Upgrade\"",     "\"Expect\""};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_false(is_ignored(slice_str(names[i])));
    }
}

static void a_head_has_at_most_a_hundred_headers(void **state)
{
    struct text text = {.len = 0};
    struct http1_fields fields;

    (void)state;
    add(&text, SLICE(START));
    for (int i = 0; i < HTTP1_HEADERS_MAX; i++) {
        add(&text, SLICE("N: v\r\n"));
    }
    add(&text, SLICE("\r\n"));
    assert_int_equal(read_whole(slice_of(text.bytes, text.len), &fields), HTTP1_HEAD_DONE);
    assert_int_equal(fields.head_len, text.len);
    text.len -= 2;
    add(&text, SLICE("N: v\r\n\r\n"));
    assert_int_equal(read_whole(slice_of(text.bytes, text.len), &fields), HTTP1_HEAD_LONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_and_a_method_have_bytes_of_tokens),
        cmocka_unit_test(a_target_has_bytes_that_can_be_seen),
        cmocka_unit_test(a_value_has_text_at_every_place),
        cmocka_unit_test(a_head_ends_at_its_empty_line),
        cmocka_unit_test(a_head_may_come_in_pieces),
        cmocka_unit_test(a_malformed_line_is_refused_when_it_has_come),
        cmocka_unit_test(a_line_whose_name_is_no_token_is_ignored),
        cmocka_unit_test(all_lines_without_a_token_are_ignored),
        cmocka_unit_test(an_ignored_name_does_not_resemble_one_of_framing),
        cmocka_unit_test(a_head_has_at_most_a_hundred_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
