/* SPDX-License-Identifier: MIT */
#include "ctl/print/units.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>

static void counts_have_commas(void **state)
{
    (void)state;
    assert_string_equal(units_count(0).text, "0");
    assert_string_equal(units_count(999).text, "999");
    assert_string_equal(units_count(1000).text, "1,000");
    assert_string_equal(units_count(1234567).text, "1,234,567");
    assert_string_equal(units_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

static void short_counts_take_five_columns(void **state)
{
    static const struct {
        uint64_t number;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1.0k"},
                 {99949, "99.9k"},
                 {99950, "100k"},
                 {999499, "999k"},
                 {999500, "1.0M"},
                 {1234567, "1.2M"},
                 {2500000000, "2.5G"},
                 {UINT64_MAX, "18.4E"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0};

        units_add_short(&text, cases[i].number);
        assert_string_equal(text_string(&text), cases[i].text);
        text_free(&text);
    }
}

static void bytes_have_units_of_1024(void **state)
{
    (void)state;
    assert_string_equal(units_bytes(0).text, "0 B");
    assert_string_equal(units_bytes(1023).text, "1023 B");
    assert_string_equal(units_bytes(1024).text, "1.0 KiB");
    assert_string_equal(units_bytes(1536).text, "1.5 KiB");
    assert_string_equal(units_bytes(150 * 1024).text, "150 KiB");
    assert_string_equal(units_bytes(1024 * 1024 - 1).text, "1.0 MiB");
    assert_string_equal(units_bytes(UINT64_MAX).text, "16.0 EiB");
}

static void seconds_have_the_two_largest_units(void **state)
{
    (void)state;
    assert_string_equal(units_seconds(0).text, "0 s");
    assert_string_equal(units_seconds(0.00025).text, "250 us");
    assert_string_equal(units_seconds(0.012).text, "12 ms");
    assert_string_equal(units_seconds(3.44).text, "3.4 s");
    assert_string_equal(units_seconds(59.94).text, "59.9 s");
    assert_string_equal(units_seconds(59.96).text, "1m");
    assert_string_equal(units_seconds(125).text, "2m 5s");
    assert_string_equal(units_seconds(3600).text, "1h");
    assert_string_equal(units_seconds(11400).text, "3h 10m");
    assert_string_equal(units_seconds(4 * 86400 + 7200 + 59).text, "4d 2h");
}

static void times_are_read_with_and_without_units(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"90", 90},   {"0", 0},      {"1.5h", 5400},  {"2d", 172800}, {"100ms", 0.1},
                 {"10m", 600}, {"5min", 300}, {"1h30m", 5400}, {"1w", 604800}, {"2m5", 125}};
    static const char *const bad[] = {"",    "h",     "1y", "-1",  "1 h",
                                      "1h ", "1.2.3", ".",  "1e5", "99999999999999999999"};
    double seconds;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(units_read_seconds(cases[i].text, &seconds));
        assert_true(seconds == cases[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(units_read_seconds(bad[i], &seconds));
    }
}

static void sizes_are_read_with_and_without_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {{"0", 0},         {"4096", 4096},    {"10k", 10240},
                 {"10KiB", 10240}, {"1.5M", 3 << 19}, {"2gb", UINT64_C(2) << 30},
                 {"7b", 7}};
    static const char *const bad[] = {"", "k", "1kk", "-1", "1 k", "1x", "99999999T"};
    uint64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(units_read_bytes(cases[i].text, &bytes));
        assert_true(bytes == cases[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(units_read_bytes(bad[i], &bytes));
    }
}

static void ranges_may_be_open_at_either_end(void **state)
{
    static const struct {
        const char *text;
        uint64_t least, most;
    } cases[] = {{"5", 5, 5}, {"5-", 5, UINT64_MAX}, {"-9", 0, 9}, {"5-9", 5, 9}};
    static const char *const bad[] = {"", "-", "9-5", "a", "1-2-3", "1 -2"};
    uint64_t least, most;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(units_read_range(cases[i].text, &least, &most));
        assert_true(least == cases[i].least && most == cases[i].most);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(units_read_range(bad[i], &least, &most));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(short_counts_take_five_columns),
        cmocka_unit_test(bytes_have_units_of_1024),
        cmocka_unit_test(seconds_have_the_two_largest_units),
        cmocka_unit_test(times_are_read_with_and_without_units),
        cmocka_unit_test(sizes_are_read_with_and_without_units),
        cmocka_unit_test(ranges_may_be_open_at_either_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
