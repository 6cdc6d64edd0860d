/* SPDX-License-Identifier: MIT */
// JSON strings that are made in parts are the same as jansson's.
#include "json/json_body.h"
#include "tests/support/with_cmocka.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64, ROUNDS = 20000 };

static uint32_t below(uint64_t *random, uint32_t bound)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*random >> 33) % bound;
}

// Checks the bytes in steps of `step` bytes.
static bool is_utf8(struct slice bytes, size_t step)
{
    size_t checked = 0;

    while (checked < bytes.len) {
        size_t before = checked;

        if (!json_check_utf8(bytes, &checked, step)) {
            return false;
        }
        assert_true(checked > before);
    }
    assert_int_equal(checked, bytes.len);
    return true;
}

static void expect_as_jansson(struct slice bytes)
{
    json_t *string = json_stringn(bytes.ptr, bytes.len);

    for (size_t step = 1; step < 12; step++) {
        assert_int_equal(is_utf8(bytes, step), string != NULL);
    }
    if (string) {
        char text[LONGEST * JSON_ESCAPED_MAX + 2];
        char *theirs = json_dumps(string, JSON_ENCODE_ANY);
        size_t half = bytes.len / 2;
        size_t len = json_escape(text, slice_of(bytes.ptr, half));

        len += json_escape(text + len, slice_from(bytes, half));
        assert_int_equal(strlen(theirs), len + 2);
        assert_memory_equal(theirs + 1, text, len);
        free(theirs);
        json_decref(string);
    }
}

static void each_byte_and_each_pair_is_escaped_as_by_jansson(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            const char pair[] = {(char)first, (char)second};

            expect_as_jansson(slice_of(pair, 1));
            expect_as_jansson(slice_of(pair, 2));
        }
    }
}

// Most bytes are at the limits of valid sequences.
static void random_bytes_are_escaped_as_by_jansson(void **state)
{
    static const unsigned char bounds[] = {0x00, 0x22, 0x41, 0x5c, 0x7f, 0x80, 0x8f, 0x90,
                                           0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xed,
                                           0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x61, 0x62, 0x63};
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        char bytes[LONGEST];
        size_t len = below(&random, i % 2 ? 5 : LONGEST);

        for (size_t at = 0; at < len; at++) {
            bytes[at] = (char)bounds[below(&random, sizeof bounds)];
        }
        expect_as_jansson(slice_of(bytes, len));
    }
}

static void base64_of_parts_equals_base64_of_the_whole(void **state)
{
    char text[32];
    size_t len = json_base64(text, SLICE("\xff\xfe\xfd"));

    (void)state;
    len += json_base64(text + len, SLICE("\x80"));
    assert_int_equal(len, 8);
    assert_memory_equal(text, "//79gA==", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_and_each_pair_is_escaped_as_by_jansson),
        cmocka_unit_test(random_bytes_are_escaped_as_by_jansson),
        cmocka_unit_test(base64_of_parts_equals_base64_of_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
