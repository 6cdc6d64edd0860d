/* SPDX-License-Identifier: MIT */
// Bytes as base64, and back.
#include "core/base/base64.h"
#include "tests/support/with_cmocka.h"

#include <stdint.h>
#include <string.h>

static void short_texts_are_those_of_the_rfc(void **state)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slice bytes = slice_str(cases[i].bytes);
        char text[8];

        assert_int_equal(base64_encoded_len(bytes.len), strlen(cases[i].text));
        base64_encode(bytes, text);
        assert_memory_equal(text, cases[i].text, base64_encoded_len(bytes.len));
    }
}

static void any_bytes_come_back(void **state)
{
    char bytes[256];
    char text[344];
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * 167);
    }
    for (size_t count = 0; count <= sizeof bytes; count++) {
        base64_encode(slice_of(bytes, count), text);
        assert_true(base64_decode(slice_of(text, base64_encoded_len(count)), text, &len));
        assert_int_equal(len, count);
        assert_memory_equal(text, bytes, count);
    }
}

static void base64url_has_its_own_letters_and_no_padding(void **state)
{
    static const char bytes[] = "\xfb\xff\xfe\x01";
    char text[6], back[4];

    (void)state;
    base64url_encode(slice_of(bytes, 4), text);
    assert_memory_equal(text, "-__-AQ", 6);
    assert_true(base64url_decode(slice_of(text, 6), back, 4));
    assert_memory_equal(back, bytes, 4);
    assert_false(base64url_decode(SLICE("+//+AQ"), back, 4));
    assert_false(base64url_decode(SLICE("-__-AR"), back, 4));
    assert_false(base64url_decode(SLICE("-__-AQ=="), back, 4));
    assert_false(base64url_decode(SLICE("-__-AQ"), back, 3));
    assert_false(base64url_decode(SLICE("-__-A="), back, 4));
}

static void text_that_is_not_base64_is_refused(void **state)
{
    static const char *const bad[] = {"Z",    "Zm9vY", "Zm 9",     "Zg=a", "Zm9*", "Z===",
                                      "====", "Zh==",  "Zg==Zg==", "Zm9=", "-_-_", "\x80Zg="};
    char bytes[6];
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(base64_decode(slice_str(bad[i]), bytes, &len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_texts_are_those_of_the_rfc),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(base64url_has_its_own_letters_and_no_padding),
        cmocka_unit_test(text_that_is_not_base64_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
