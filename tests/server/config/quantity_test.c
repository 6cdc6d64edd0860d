/* SPDX-License-Identifier: MIT */
// Durations, rates and shares, as operators write them.
#include "server/config/setting.h"

#include "tests/support/with_cmocka.h"

#include <stdlib.h>
#include <string.h>

#define DAY (86400 * NSEC_PER_SEC)

static void a_duration_has_a_unit_or_is_in_seconds(void **state)
{
    static const struct {
        const char *text;
        nsec_t duration_for;
    } good[] = {
        {"0", 0},
        {"0ms", 0},
        {"500ms", 500 * NSEC_PER_MSEC},
        {"10", 10 * NSEC_PER_SEC},
        {"10s", 10 * NSEC_PER_SEC},
        {"5m", 300 * NSEC_PER_SEC},
        {"2h", 7200 * NSEC_PER_SEC},
        {"7d", 7 * DAY},
    };
    static const char *const bad[] = {"",    "s",   "-1s",  "1 s", "1.5s", "1w",
                                      "1sm", "1us", "1S",   "+1s", "0x1s", "999999999999d",
                                      "-0",  "1m ", "ms500"};
    struct error_text why;
    nsec_t duration_for;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(quantity_duration(good[i].text, &duration_for, &why));
        assert_int_equal(duration_for, good[i].duration_for);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(quantity_duration(bad[i], &duration_for, &why));
        assert_non_null(strstr(why.text, "is not a duration"));
    }
}

static void a_rate_is_a_number_in_a_unit_of_time(void **state)
{
    static const struct {
        const char *text;
        nsec_t interval_for;
    } good[] = {
        {"0", 0},
        {"100/s", 10 * NSEC_PER_MSEC},
        {"3/s", INT64_C(333333333)},
        {"5/m", 12 * NSEC_PER_SEC},
        {"2/h", 1800 * NSEC_PER_SEC},
        {"1/d", DAY},
        {"1000000/s", NSEC_PER_USEC},
        {"60000000/m", NSEC_PER_USEC},
    };
    static const char *const bad[] = {
        "",     "100",    "/s",    "0/s", "-1/s",   "100/ms", "100/",
        "1 /s", "100 /s", "1.5/s", "1/w", "100/ss", "00",     "99999999999999999999/s"};
    struct error_text why;
    nsec_t interval_for;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(quantity_rate(good[i].text, &interval_for, &why));
        assert_int_equal(interval_for, good[i].interval_for);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(quantity_rate(bad[i], &interval_for, &why));
        assert_non_null(strstr(why.text, "is not a rate"));
    }
    assert_false(quantity_rate("1000001/s", &interval_for, &why));
    assert_string_equal(why.text, "`1000001/s` is more than 1000000/s");
}

static void a_share_is_from_0_to_1(void **state)
{
    static const struct {
        const char *text;
        uint32_t share;
    } good[] = {{"0", 0},           {"1", 1000000},  {"0.5", 500000}, {"0.25", 250000},
                {"1.000", 1000000}, {"0.000001", 1}, {"0.1", 100000}};
    static const char *const bad[] = {"",    ".5",  "2",    "1.1",       "-0.1", "0.",
                                      "0,5", "50%", "0.5x", "0.0000001", "01",   "1.000001"};
    struct error_text why;
    uint32_t share;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(quantity_share(good[i].text, &share, &why));
        assert_int_equal(share, good[i].share);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(quantity_share(bad[i], &share, &why));
        assert_non_null(strstr(why.text, "is not a number from 0 to 1"));
    }
}

enum kind { DURATION, RATE, SHARE };

// The printed form of a quantity.
static char *printed(enum kind kind, const char *text)
{
    struct error_text why;
    nsec_t span_for;
    uint32_t share;
    char *out = NULL;
    size_t len;
    FILE *file = open_memstream(&out, &len);

    switch (kind) {
    case DURATION:
        assert_true(quantity_duration(text, &span_for, &why));
        quantity_print_duration(span_for, file);
        break;
    case RATE:
        assert_true(quantity_rate(text, &span_for, &why));
        quantity_print_rate(span_for, file);
        break;
    case SHARE:
        assert_true(quantity_share(text, &share, &why));
        quantity_print_share(share, file);
        break;
    }
    assert_int_equal(fclose(file), 0);
    return out;
}

static void values_are_printed_in_the_shortest_form(void **state)
{
    static const struct {
        enum kind kind;
        const char *text, *want;
    } cases[] = {
        {DURATION, "0s", "0"},      {DURATION, "1500ms", "1500ms"},
        {DURATION, "60", "1m"},     {DURATION, "90s", "90s"},
        {DURATION, "24h", "1d"},    {DURATION, "168h", "7d"},
        {DURATION, "25h", "25h"},   {RATE, "0", "0"},
        {RATE, "100/s", "100/s"},   {RATE, "3/s", "3/s"},
        {RATE, "7/m", "7/m"},       {RATE, "60/m", "1/s"},
        {RATE, "7/h", "7/h"},       {RATE, "11/d", "11/d"},
        {RATE, "9973/s", "9973/s"}, {RATE, "1000000/s", "1000000/s"},
        {SHARE, "1.0", "1"},        {SHARE, "0.50", "0.5"},
        {SHARE, "0.050", "0.05"},   {SHARE, "0.000001", "0.000001"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = printed(cases[i].kind, cases[i].text);

        assert_string_equal(text, cases[i].want);
        free(text);
    }
}

// Above 31,622 in a second, several counts come to the same interval in whole nanoseconds.
static void a_printed_rate_is_read_back_as_the_same_interval(void **state)
{
    static const char units[] = "smhd";
    struct error_text why;

    (void)state;
    for (int count = 1; count < 1000000; count += 1 + count / 7) {
        for (size_t unit = 0; unit < sizeof units - 1; unit++) {
            char text[32];
            char *again;
            nsec_t one_for, other_for;

            (void)snprintf(text, sizeof text, "%d/%c", count, units[unit]);
            again = printed(RATE, text);
            assert_true(quantity_rate(text, &one_for, &why));
            assert_true(quantity_rate(again, &other_for, &why));
            assert_int_equal(one_for, other_for);
            free(again);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_duration_has_a_unit_or_is_in_seconds),
        cmocka_unit_test(a_rate_is_a_number_in_a_unit_of_time),
        cmocka_unit_test(a_share_is_from_0_to_1),
        cmocka_unit_test(values_are_printed_in_the_shortest_form),
        cmocka_unit_test(a_printed_rate_is_read_back_as_the_same_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
