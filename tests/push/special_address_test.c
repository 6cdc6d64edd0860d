/* SPDX-License-Identifier: MIT */
// Addresses that are not on the public Internet.
#include "push/special_address.h"
#include "tests/support/with_cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

static bool is_special(const char *text)
{
    struct sockaddr_storage storage;
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    memset(&storage, 0, sizeof storage);
    if (strchr(text, ':')) {
        assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
        memcpy(&storage, &v6, sizeof v6);
    } else {
        assert_int_equal(inet_pton(AF_INET, text, &v4.sin_addr), 1);
        memcpy(&storage, &v4, sizeof v4);
    }
    return address_is_special((const struct sockaddr *)&storage);
}

static void check_all(const char *const *texts, bool special)
{
    for (; *texts; texts++) {
        if (is_special(*texts) != special) {
            fail_msg("%s", *texts);
        }
    }
}

static void addresses_of_the_public_internet_are_not_special(void **state)
{
    static const char *const texts[] = {"8.8.8.8",
                                        "1.0.0.1",
                                        "9.255.255.255",
                                        "11.0.0.0",
                                        "100.63.255.255",
                                        "100.128.0.0",
                                        "126.255.255.255",
                                        "128.0.0.0",
                                        "169.253.255.255",
                                        "169.255.0.0",
                                        "172.15.255.255",
                                        "172.32.0.0",
                                        "192.0.1.0",
                                        "192.167.255.255",
                                        "192.169.0.0",
                                        "198.17.255.255",
                                        "198.20.0.0",
                                        "223.255.255.255",
                                        "2001:200::1",
                                        "2606:4700::1111",
                                        "2a00::1",
                                        "3ffe::1",
                                        NULL};

    (void)state;
    check_all(texts, false);
}

static void private_and_reserved_ipv4_addresses_are_special(void **state)
{
    static const char *const texts[] = {
        "0.0.0.0",         "0.255.255.255", "10.0.0.0",        "10.255.255.255",
        "100.64.0.1",      "100.127.255.1", "127.0.0.1",       "127.255.255.255",
        "169.254.169.254", "172.16.0.1",    "172.31.255.1",    "192.0.0.8",
        "192.0.2.1",       "192.88.99.1",   "192.168.1.1",     "198.18.0.1",
        "198.19.255.255",  "198.51.100.7",  "203.0.113.9",     "224.0.0.1",
        "239.1.2.3",       "240.0.0.1",     "255.255.255.255", NULL};

    (void)state;
    check_all(texts, true);
}

static void private_and_reserved_ipv6_addresses_are_special(void **state)
{
    static const char *const texts[] = {"::",          "::1",          "::127.0.0.1", "::8.8.8.8",
                                        "100::1",      "64:ff9b:1::1", "2001::1",     "2001:1ff::1",
                                        "2001:db8::1", "3fff::1",      "fc00::1",     "fdff::1",
                                        "fe80::1",     "febf::1",      "fec0::1",     "ff02::1",
                                        "4000::1",     "5f00::1",      NULL};

    (void)state;
    check_all(texts, true);
}

static void ipv6_address_is_as_special_as_its_embedded_ipv4_address(void **state)
{
    static const char *const special[] = {
        "::ffff:127.0.0.1", "::ffff:10.1.2.3",   "::ffff:169.254.169.254", "64:ff9b::10.1.2.3",
        "64:ff9b::7f00:1",  "2002:0a00:0001::1", "2002:7f00:1::",          NULL};
    static const char *const open[] = {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
                                       NULL};

    (void)state;
    check_all(special, true);
    check_all(open, false);
}

static void address_of_another_family_is_special(void **state)
{
    const struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)state;
    assert_true(address_is_special((const struct sockaddr *)&address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_the_public_internet_are_not_special),
        cmocka_unit_test(private_and_reserved_ipv4_addresses_are_special),
        cmocka_unit_test(private_and_reserved_ipv6_addresses_are_special),
        cmocka_unit_test(ipv6_address_is_as_special_as_its_embedded_ipv4_address),
        cmocka_unit_test(address_of_another_family_is_special),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
