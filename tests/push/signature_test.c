/* SPDX-License-Identifier: MIT */
// Requests are signed as Standard Webhooks requires.
#include "push/signature.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The example that the libraries of Standard Webhooks are tested with.
#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define ID "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define SENT_AT 1614265330
#define BODY "{\"test\": 2432232314}"
#define SIGNED "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

static bool read_secrets(struct secrets *secrets, const char *text)
{
    struct error_text why = {{0}};
    bool good;

    *secrets = (struct secrets){0};
    good = secrets_read(secrets, "push_secret", slice_str(text), &why);
    assert_true(good || strncmp(why.text, "push_secret: ", 13) == 0);
    // No part of the secret may be shown.
    assert_true(good || !strstr(why.text, "MfKQ"));
    return good;
}

// The signature of BODY, added in pieces of `piece` bytes.
static void sign(const char *secret, size_t piece, char text[SIGNATURE_SIZE])
{
    struct secrets secrets;
    struct signature signature;
    struct slice rest = SLICE(BODY);

    assert_true(read_secrets(&secrets, secret));
    assert_true(signature_begin(&signature, &secrets, SLICE(ID), SENT_AT));
    secrets_clear(&secrets);
    while (rest.len > 0) {
        size_t len = piece < rest.len ? piece : rest.len;

        assert_true(signature_take(&signature, slice_of(rest.ptr, len)));
        rest = slice_from(rest, len);
    }
    assert_true(signature_write(&signature, text));
    signature_clear(&signature);
}

static void signature_follows_standard_webhooks(void **state)
{
    char text[SIGNATURE_SIZE];

    (void)state;
    for (size_t piece = 1; piece <= sizeof BODY; piece++) {
        sign(SECRET, piece, text);
        assert_string_equal(text, SIGNED);
    }
}

static void each_secret_signs(void **state)
{
    static const char other[] = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    char alone[SIGNATURE_SIZE];
    char text[SIGNATURE_SIZE];
    char wanted[2 * SIGNATURE_SIZE];

    (void)state;
    sign(other, 7, alone);
    (void)snprintf(wanted, sizeof wanted, "%s %s", SIGNED, alone);
    sign("\n" SECRET " \t\r\n whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", 7, text);
    assert_string_equal(text, wanted);
    sign(SECRET " " SECRET " " SECRET " " SECRET, 7, text);
    assert_string_equal(text, SIGNED " " SIGNED " " SIGNED " " SIGNED);
}

static void invalid_secret_is_refused_without_showing_it(void **state)
{
    static const char *const bad[] = {
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_",
        "whsec_MfKQ",                              // too short
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",   // a digit is missing
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-w",  // another alphabet
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa===", // too much padding
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=", // one digit too many
        "whsec_MfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQMfKQ"
        "MfKQMfKQMfKQ", // too long
        SECRET " " SECRET " " SECRET " " SECRET " " SECRET,
        SECRET " MfKQ",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct secrets secrets;

        assert_false(read_secrets(&secrets, bad[i]));
        secrets_clear(&secrets);
    }
}

static void longest_and_shortest_secret_are_accepted(void **state)
{
    struct secrets secrets;

    (void)state;
    assert_true(read_secrets(&secrets,
                             "whsec_"
                             "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                             "AAAAAAAAAAAAAAAAAAAAAAAAAA=="));
    secrets_clear(&secrets);
    assert_true(read_secrets(&secrets, ""));
    assert_int_equal(secrets.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signature_follows_standard_webhooks),
        cmocka_unit_test(each_secret_signs),
        cmocka_unit_test(invalid_secret_is_refused_without_showing_it),
        cmocka_unit_test(longest_and_shortest_secret_are_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
