/* SPDX-License-Identifier: MIT */
// Numbers, written and read as decimal digits.
#include "core/base/digits.h"
#include "tests/support/with_cmocka.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Written as the C library writes it, with nothing behind it, and read back.
static void check(uint64_t number)
{
    char expected[DIGITS_MAX + 1];
    char text[DIGITS_MAX + 2];
    size_t len = (size_t)snprintf(expected, sizeof expected, "%" PRIu64, number);
    uint64_t read = 0;

    memset(text, '#', sizeof text);
    assert_ptr_equal(digits_write(text + 1, number), text + 1 + len);
    assert_memory_equal(text + 1, expected, len);
    assert_int_equal(text[0], '#');
    assert_true(len == DIGITS_MAX || text[1 + len] == '#');
    assert_true(digits_read(slice_of(text + 1, len), &read));
    assert_true(read == number);
}

static void numbers_of_each_length_are_written_and_read_back(void **state)
{
    uint64_t power = 1;

    (void)state;
    for (unsigned digits = 1; digits <= DIGITS_MAX; digits++) {
        check(power - 1);
        check(power);
        check(power + 1);
        check(power / 7 * 9);
        if (digits < DIGITS_MAX) {
            power *= 10;
        }
    }
    check(UINT64_MAX - 1);
    check(UINT64_MAX);
}

static void text_that_is_not_a_number_is_refused(void **state)
{
    static const struct slice texts[] = {
        {"", 0}, {"x", 1}, {"1x", 2}, {" 1", 2}, {"-1", 2}, {"18446744073709551616", 20},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint64_t number = 5;

        assert_false(digits_read(texts[i], &number));
        assert_true(number == 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_each_length_are_written_and_read_back),
        cmocka_unit_test(text_that_is_not_a_number_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
