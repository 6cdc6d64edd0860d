/* SPDX-License-Identifier: MIT */
// BLAKE2b-256 gives what others get, in however many steps.
#include "core/base/blake2b.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// By CPython 3.11 (hashlib.blake2b with digest_size=32): of `len` bytes, each of them seven times
// its place, modulo 251.
static const struct known {
    size_t len;
    const char *digest;
} known[] = {
    {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
    {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
    {127, "1bb3d24376d0b5840955e640c6a8a4830cd69af0b7ad71a409d2a30c6a374abb"},
    {128, "9101ed0a248b57efc0c6070cfbf9cf316c182d125ad6191c1f7783c3d32b6346"},
    {129, "60f5e954d1a1775362ffd0762ed37bbe101ed5e88896dd793f1a889786fb3132"},
    {255, "9399bcd4acec0cc0e9dec7267671a6f2e65568dc917afb54791da24523a71b32"},
    {256, "45d503f4fc344944eeff959e1e2234c47884011023598cadbd934f08d4265016"},
    {257, "4ad285edc2490602fd02d61df8008d95887039bade83dae8a1e207ae1cac33ac"},
    {1000, "a494537cc57474059ebe7a7f7a76c03306551355abebb1967408ed04e7564fa9"},
    {65537, "465c55ada8c760381ae25ff0cfa4834555a5fb658aca7417a8e350b0ebdb4b5a"},
};

static char bytes[70000];

static int fill_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(unsigned char)(i * 7 % 251);
    }
    return 0;
}

// Hashes that many of the bytes, and a step more of them each time.
static void digest_is(size_t len, size_t step, const char *expected)
{
    struct blake2b hash;
    unsigned char digest[BLAKE2B_LEN];
    char text[2 * BLAKE2B_LEN + 1];

    blake2b_init(&hash);
    for (size_t there = 0; there <= len; there += step) {
        blake2b_update(&hash, bytes, there);
    }
    blake2b_finish(&hash, bytes, len, digest);
    for (int i = 0; i < BLAKE2B_LEN; i++) {
        (void)snprintf(text + 2 * (size_t)i, 3, "%02x", digest[i]);
    }
    assert_string_equal(text, expected);
}

static void digest_equals_that_of_another_implementation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        digest_is(known[i].len, sizeof bytes, known[i].digest);
    }
    bytes[0] = 'a';
    bytes[1] = 'b';
    bytes[2] = 'c';
    // RFC 7693 has BLAKE2b-512 of it; this is the shorter digest, by CPython again.
    digest_is(3, sizeof bytes, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    (void)fill_bytes(state);
}

static void digest_does_not_depend_on_the_steps(void **state)
{
    static const size_t steps[] = {1, 2, 127, 128, 129, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            digest_is(known[i].len, steps[s], known[i].digest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_equals_that_of_another_implementation),
        cmocka_unit_test(digest_does_not_depend_on_the_steps),
    };

    return cmocka_run_group_tests(tests, fill_bytes, NULL);
}
