/* SPDX-License-Identifier: MIT */
// Valid and invalid UTF-8.
#include "core/base/utf8.h"
#include "tests/support/with_cmocka.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void assert_all(const char *const *texts, bool valid)
{
    for (; *texts; texts++) {
        if (utf8_valid(slice_str(*texts)) != valid) {
            fail_msg("%s is %s", *texts, valid ? "refused" : "taken");
        }
    }
}

static void characters_of_each_length_are_utf8(void **state)
{
    static const char *const texts[] = {
        "",
        "mail",
        "\x7f",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x93\xac!",
        NULL,
    };

    (void)state;
    assert_all(texts, true);
}

static void cut_overlong_surrogate_and_too_high_sequences_are_invalid(void **state)
{
    static const char *const texts[] = {
        "\x80",
        "a\xbf",
        "\xc0\xaf",
        "\xc1\xbf",
        "\xc2",
        "\xc2z",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xe2\x82z",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x9f\x93",
        "\xf0\x9f\x93z",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
        "mail\xfe",
        NULL,
    };

    (void)state;
    assert_all(texts, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_each_length_are_utf8),
        cmocka_unit_test(cut_overlong_surrogate_and_too_high_sequences_are_invalid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
