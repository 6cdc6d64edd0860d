/* SPDX-License-Identifier: MIT */
// SipHash-1-3 gives what others get.
#include "core/base/siphash.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void hash_equals_that_of_another_implementation(void **state)
{
    // By CPython 3.11, which hashes bytes so with the key 0 where PYTHONHASHSEED is 0: of the bytes
    // 0, 1, 2 and so on, the first of them alone, the first two, up to 32.
    static const uint64_t expected[] = {
        UINT64_C(0x68a914128e01e473), UINT64_C(0x010bac45c41e3669), UINT64_C(0x4d4c9a4a8ef6e0ad),
        UINT64_C(0x7cc43f98813e4dbd), UINT64_C(0x5abe2169dff36275), UINT64_C(0xe3c25f87624f1cdb),
        UINT64_C(0x2f098ab0c751325a), UINT64_C(0xead411e67ebe2eea), UINT64_C(0x75927f9d95124362),
        UINT64_C(0xaf9f77a65ab51a1d), UINT64_C(0xfe64ce8b6617fcff), UINT64_C(0xa6baf4fb0f9fe1c2),
        UINT64_C(0xa0cf3211850f8e0d), UINT64_C(0x7f86049379fbfe67), UINT64_C(0xf30eb725bb91c9ea),
        UINT64_C(0x8972188433a5c5b7), UINT64_C(0x4883c49a2c009c1d), UINT64_C(0xadc2c0b63044067d),
        UINT64_C(0x091f4a3329f87d19), UINT64_C(0x639e355ae68c0100), UINT64_C(0xb17bef2cb5213239),
        UINT64_C(0xf8aeb1066236ccfe), UINT64_C(0x37332b1389daa4ff), UINT64_C(0x31185a47af932f3a),
        UINT64_C(0xebf352e82ae23e2f), UINT64_C(0xed36ff242fe478b2), UINT64_C(0x2454d97d299299df),
        UINT64_C(0x8cd57fe8130d0ac7), UINT64_C(0xbe98eb2faf0a0e85), UINT64_C(0xd427c34ee09470c6),
        UINT64_C(0x169739443111d49b), UINT64_C(0x31ef8061c910629b),
    };
    const struct siphash_key zero = {{0, 0}};
    char bytes[32];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)i;
        assert_int_equal(siphash(&zero, bytes, i + 1), expected[i]);
    }
}

static void key_is_taken_in_as_its_authors_say(void **state)
{
    // The bytes 0 to 15 are the key, and nothing is hashed.
    const struct siphash_key key = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

    (void)state;
    assert_int_equal(siphash(&key, "", 0), UINT64_C(0xabac0158050fc4dc));
}

static void hash_depends_on_both_halves_of_the_key(void **state)
{
    const struct siphash_key a = {{1, 2}};
    const struct siphash_key b = {{3, 2}};
    const struct siphash_key c = {{1, 3}};

    (void)state;
    assert_true(siphash(&a, "tube", 4) != siphash(&b, "tube", 4));
    assert_true(siphash(&a, "tube", 4) != siphash(&c, "tube", 4));
}

static void hash_depends_on_each_byte_and_on_the_length(void **state)
{
    const struct siphash_key key = {{7, 11}};
    char text[777];
    uint64_t plain;

    (void)state;
    memset(text, 'k', sizeof text);
    plain = siphash(&key, text, sizeof text);
    assert_true(siphash(&key, text, sizeof text - 1) != plain);
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] ^= 1;
        assert_true(siphash(&key, text, sizeof text) != plain);
        text[i] ^= 1;
    }
    // A closing NUL is a byte like any other.
    assert_true(siphash(&key, "a", 1) != siphash(&key, "a", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_equals_that_of_another_implementation),
        cmocka_unit_test(key_is_taken_in_as_its_authors_say),
        cmocka_unit_test(hash_depends_on_both_halves_of_the_key),
        cmocka_unit_test(hash_depends_on_each_byte_and_on_the_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
