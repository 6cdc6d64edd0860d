/* SPDX-License-Identifier: MIT */
// The addresses of the owner: which words are valid, and which are skipped.
#include "server/proxy/owner_address.h"

#include "tests/support/with_cmocka.h"
#include "tests/support/chance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_place(const struct owner_place *place, const char *protocol, bool tls,
                         const char *host, const char *port)
{
    assert_string_equal(place->protocol, protocol);
    assert_int_equal(place->tls, tls);
    assert_string_equal(place->host, host);
    assert_string_equal(place->port, port);
}

static void places_of_all_protocols_are_read(void **state)
{
    struct owner_place places[OWNER_PLACES_MAX];

    (void)state;
    assert_int_equal(owner_address_read("beanstalk=10.0.0.1:11300 gearman=10.0.0.1:4730  "
                                        "http=db-1.example.com:8080 beanstalk+tls=10.0.0.1:11301",
                                        places),
                     4);
    expect_place(&places[0], "beanstalk", false, "10.0.0.1", "11300");
    expect_place(&places[1], "gearman", false, "10.0.0.1", "4730");
    expect_place(&places[2], "http", false, "db-1.example.com", "8080");
    expect_place(&places[3], "beanstalk", true, "10.0.0.1", "11301");
}

static void ipv6_addresses_stand_in_brackets(void **state)
{
    struct owner_place places[OWNER_PLACES_MAX];

    (void)state;
    assert_int_equal(owner_address_read("http=[2001:db8::7]:8080 gearman=2001:db8::7:4730", places),
                     1);
    expect_place(&places[0], "http", false, "2001:db8::7", "8080");
}

static void the_proxies_that_an_owner_believes_are_no_place(void **state)
{
    static const char *const none[] = {"", "http=a:1", "proxies=", "proxies=a http=a:1",
                                       "http=a:1 proxies=10.0.0.1,x"};
    struct owner_place places[OWNER_PLACES_MAX];
    struct proxy_list proxies;

    (void)state;
    owner_address_proxies("http=a:1 proxies=10.0.0.1,10.1.0.0/16,2001:db8::7,unix gearman=b:2",
                          &proxies);
    assert_int_equal(proxies.count, 3);
    assert_int_equal(
        owner_address_read("http=a:1 proxies=10.0.0.1,10.1.0.0/16 gearman=b:2", places), 2);
    assert_int_equal(owner_address_read("proxies=10.0.0.1 proxies=::1 proxies=10.0.0.0/8", places),
                     0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        owner_address_proxies(none[i], &proxies);
        assert_int_equal(proxies.count, 0);
    }
}

static void first_of_several_places_counts(void **state)
{
    struct owner_place places[OWNER_PLACES_MAX];

    (void)state;
    assert_int_equal(owner_address_read("http=a:1 http=b:2 http+tls=c:3 http+tls=d:4", places), 2);
    expect_place(&places[0], "http", false, "a", "1");
    expect_place(&places[1], "http", true, "c", "3");
}

static void words_that_say_no_place_are_passed_over(void **state)
{
    static const char *const bad[] = {
        "",
        " \t\n",
        "http",
        "http=",
        "=a:1",
        "+tls=a:1",
        "http=a",
        "http=:8080",
        "http=*:8080",
        "http=a:",
        "http=a:0",
        "http=a:00000",
        "http=a:65536",
        "http=a:8o",
        "http=[]:80",
        "http=a:1,b:2",
        "http=,a:1",
        "http=tls:a:1",
        "http=unix:/run/a",
        "http+ssl=a:1",
        "http+tls+tls=a:1",
        "aprotocolthatistoolong=a:1",
    };
    struct owner_place places[OWNER_PLACES_MAX];
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(owner_address_read(bad[i], places), 0);
        (void)snprintf(text, sizeof text, "%s gearman=b:2", bad[i]);
        assert_int_equal(owner_address_read(text, places), 1);
        expect_place(&places[0], "gearman", false, "b", "2");
    }
}

static void host_that_is_too_long_is_passed_over(void **state)
{
    struct owner_place places[OWNER_PLACES_MAX];
    char text[512] = "http=";

    (void)state;
    memset(text + 5, 'a', 255);
    memcpy(text + 260, ":80", 4);
    assert_int_equal(owner_address_read(text, places), 1);
    assert_int_equal(strlen(places[0].host), 255);
    memset(text + 5, 'a', 256);
    memcpy(text + 261, ":80", 4);
    assert_int_equal(owner_address_read(text, places), 0);
    memset(text + 5, 'a', 400);
    memcpy(text + 405, ":80", 4);
    assert_int_equal(owner_address_read(text, places), 0);
}

static void more_places_than_there_is_room_for_are_passed_over(void **state)
{
    struct owner_place places[OWNER_PLACES_MAX];
    char text[512];
    size_t len = 0;

    (void)state;
    for (int name = 'a'; name <= 'z'; name++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%c=h:1 ", name);
    }
    assert_int_equal(owner_address_read(text, places), OWNER_PLACES_MAX);
    expect_place(&places[OWNER_PLACES_MAX - 1], "p", false, "h", "1");
}

static void no_text_does_harm(void **state)
{
    static const char pieces[] = "http=a:1+tls[]:. ,\xff\x01/*0";
    struct owner_place places[OWNER_PLACES_MAX];

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        size_t len = below(80);
        // Exactly of its size: a read behind it is found.
        char *text = malloc(len + 1);

        assert_non_null(text);
        for (size_t i = 0; i < len; i++) {
            text[i] = pieces[below(sizeof pieces - 1)];
        }
        text[len] = '\0';
        assert_in_range(owner_address_read(text, places), 0, OWNER_PLACES_MAX);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_of_all_protocols_are_read),
        cmocka_unit_test(ipv6_addresses_stand_in_brackets),
        cmocka_unit_test(the_proxies_that_an_owner_believes_are_no_place),
        cmocka_unit_test(first_of_several_places_counts),
        cmocka_unit_test(words_that_say_no_place_are_passed_over),
        cmocka_unit_test(host_that_is_too_long_is_passed_over),
        cmocka_unit_test(more_places_than_there_is_room_for_are_passed_over),
        cmocka_unit_test(no_text_does_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
