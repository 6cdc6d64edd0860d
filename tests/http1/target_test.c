/* SPDX-License-Identifier: MIT */

// A target in its forms, and the escapes in it.

#include "http1/request_target.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TEXT_MAX 100

static const struct row {
    const char *text;
    enum http1_target_kind kind;
    const char *path, *query; // `query` NULL: there is none
} rows[] = {
    {"*", HTTP1_TARGET_SERVER, "", NULL},
    {"/", HTTP1_TARGET_PATH, "/", NULL},
    {"/a/b%20", HTTP1_TARGET_PATH, "/a/b%20", NULL},
    {"/a?", HTTP1_TARGET_PATH, "/a", ""},
    {"/a?b?c=/d", HTTP1_TARGET_PATH, "/a", "b?c=/d"},
    {"//a:1/b", HTTP1_TARGET_PATH, "//a:1/b", NULL},
    {"/a#b", HTTP1_TARGET_BAD, "", NULL},
    {"/a?b#c", HTTP1_TARGET_BAD, "", NULL},
    {"http://h", HTTP1_TARGET_PATH, "", NULL},
    {"http://h/a", HTTP1_TARGET_PATH, "/a", NULL},
    {"http://h:80/a?", HTTP1_TARGET_PATH, "/a", ""},
    {"http://h/a?b", HTTP1_TARGET_PATH, "/a", "b"},
    {"http://h/a#b", HTTP1_TARGET_BAD, "", NULL},
    {"http://h:x/a", HTTP1_TARGET_BAD, "", NULL},
    {"h:80", HTTP1_TARGET_BAD, "", NULL},
    {"a", HTTP1_TARGET_BAD, "", NULL},
    {"**", HTTP1_TARGET_BAD, "", NULL},
    {"*:1", HTTP1_TARGET_BAD, "", NULL},
};

static bool is(struct slice slice, const char *text)
{
    return slice_equal(slice, slice_str(text));
}

static void a_target_is_divided_whatever_its_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        struct http1_target target;

        http1_target_read(slice_str(row->text), &target);
        if (target.kind != row->kind || !is(target.path, row->path) ||
            target.has_query != (row->query != NULL) ||
            !is(target.query, row->query ? row->query : "")) {
            fail_msg("%s: kind %d, path %.*s, query %.*s", row->text, (int)target.kind,
                     (int)target.path.len, target.path.ptr, (int)target.query.len,
                     target.query.ptr);
        }
    }
}

// NULL: an escape is incomplete.
static void decodes(const char *text, const char *expected, size_t expected_len)
{
    char decoded[TEXT_MAX];
    size_t len;

    assert_int_equal(http1_decode(slice_str(text), decoded, &len), expected != NULL);
    if (expected) {
        assert_int_equal(len, expected_len);
        assert_memory_equal(decoded, expected, len);
    }
}

static void escapes_are_decoded_once(void **state)
{
    (void)state;
    decodes("", "", 0);
    decodes("a+b", "a+b", 3);
    decodes("%41%7a%7A", "Azz", 3);
    decodes("%2541", "%41", 3);
    decodes("%00%fF", "\0\xff", 2);
    decodes("%", NULL, 0);
    decodes("%4", NULL, 0);
    decodes("a%4", NULL, 0);
    decodes("%4g", NULL, 0);
    decodes("%g4", NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_divided_whatever_its_form),
        cmocka_unit_test(escapes_are_decoded_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
