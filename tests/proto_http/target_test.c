/* SPDX-License-Identifier: MIT */

// A path that is read without http-parser is divided as it would do it.

#include "proto_http/web_request.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PATH_MOST 4096

// A target that names a server goes through the parser: the path behind it means the same alone.
static void is_divided_as_by_the_parser(const char *path)
{
    static struct web_target alone, whole;
    char text[PATH_MOST];
    int len = snprintf(text, sizeof text, "http://h%s", path);

    web_target_read(slice_str(path), &alone);
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
    char path[PATH_MOST];

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
        char path[PATH_MOST] = "/";

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
        cmocka_unit_test(paths_are_divided_as_by_the_parser),
        cmocka_unit_test(paths_of_more_parts_are_too),
        cmocka_unit_test(long_paths_are_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
