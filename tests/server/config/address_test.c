/* SPDX-License-Identifier: MIT */
// The text of a `listen` key.
#include "server/config/listen_address.h"
#include "server/config/proxy_list.h"
#include "tests/support/with_cmocka.h"

#include <string.h>

static void expect_address(const char *text, const char *host, const char *port, const char *path)
{
    const char *cursor = text;
    struct listen_address address;
    struct error_text why;

    assert_int_equal(address_next(&cursor, &address, &why), ADDRESS_FOUND);
    assert_string_equal(address.host, host);
    assert_string_equal(address.port, port);
    assert_string_equal(address.path, path);
    assert_int_equal(address.tls, strncmp(text, "tls:", 4) == 0);
    assert_int_equal(address_next(&cursor, &address, &why), ADDRESS_END);
}

static void expect_bad(const char *text, const char *words)
{
    struct error_text why;

    assert_false(address_list_check(text, &why));
    if (!strstr(why.text, words)) {
        fail_msg("expected \"%s\" in: %s", words, why.text);
    }
}

static void every_form_is_understood(void **state)
{
    (void)state;
    expect_address("127.0.0.1:11300", "127.0.0.1", "11300", "");
    expect_address("localhost:0", "localhost", "0", "");
    expect_address("[::1]:65535", "::1", "65535", "");
    expect_address("*:80", "", "80", "");
    expect_address(":80", "", "80", "");
    expect_address("unix:/run/tandem/b.sock", "", "", "/run/tandem/b.sock");
    expect_address("  unix:/a:80 , ", "", "", "/a:80");
}

static void tls_prefixes_any_form(void **state)
{
    (void)state;
    expect_address("tls:127.0.0.1:11300", "127.0.0.1", "11300", "");
    expect_address("tls:localhost:0", "localhost", "0", "");
    expect_address("tls:[::1]:443", "::1", "443", "");
    expect_address("tls:*:443", "", "443", "");
    expect_address("tls::443", "", "443", "");
    expect_address("tls:unix:/run/a.sock", "", "", "/run/a.sock");
    expect_bad("tls:", "`tls:`: expected host:port or unix:/path after tls:");
    // Not the port of a host of that name.
    expect_bad("tls:443", "`tls:443`: expected host:port or unix:/path after tls:");
    expect_address("[tls]:443", "tls", "443", "");
    expect_bad("tls:tls:a:443", "must be in brackets");
    expect_bad("tls:unix:a", "must begin with /");
    expect_bad("TLS:a:443", "must be in brackets");
}

static void proxy_prefixes_any_form_also_with_tls(void **state)
{
    const char *cursor = "proxy:10.0.0.1:1 proxy:unix:/a proxy:tls::443, proxy:tls:unix:/b";
    struct listen_address address;
    struct error_text why;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(address_next(&cursor, &address, &why), ADDRESS_FOUND);
        assert_true(address.proxied);
        assert_int_equal(address.tls, i >= 2);
        assert_int_equal(address.path[0] != '\0', i % 2 == 1);
    }
    expect_bad("proxy:", "`proxy:`: expected host:port or unix:/path after proxy:");
    expect_bad("proxy:443", "`proxy:443`: expected host:port or unix:/path after proxy:");
    expect_bad("tls:proxy:a:443", "proxy: comes before tls:");
    expect_bad("proxy:proxy:a:443", "must be in brackets");
    expect_address("[proxy]:443", "proxy", "443", "");
    assert_true(address_list_has_proxied("a:1 proxy:tls:a:2"));
    assert_true(address_list_has_tls("a:1 proxy:tls:a:2"));
    assert_false(address_list_has_proxied("a:1 tls:a:2 unix:/proxy:a"));
}

static void the_list_of_proxies_has_addresses_networks_and_unix(void **state)
{
    static const char *const bad[][2] = {
        {"10.0.0.1/8", "`10.0.0.1/8`: the address has bits set after its network"},
        {"localhost", "`localhost`: not an IPv4 or IPv6 address"},
        {"10.0.0.1, unix:/a", "`unix:/a`: not an IPv4 or IPv6 address"}};
    struct proxy_list list;
    struct error_text why;
    char many[65 * 3 + 1];

    (void)state;
    assert_true(proxy_list_read(&list, " 10.0.0.5,10.1.0.0/16 ::1\tunix", &why));
    assert_int_equal(list.count, 3);
    assert_true(list.local);
    assert_true(proxy_list_read(&list, "", &why));
    assert_int_equal(list.count, 0);
    assert_false(list.local);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(proxy_list_read(&list, bad[i][0], &why));
        assert_string_equal(why.text, bad[i][1]);
    }
    *many = '\0';
    for (unsigned i = 0; i < 65; i++) {
        strcat(many, "::,");
        assert_int_equal(proxy_list_read(&list, many, &why), i < 64);
    }
    assert_string_equal(why.text, "more than 64 addresses and networks");
}

static void address_with_tls_is_found_in_a_list(void **state)
{
    (void)state;
    assert_true(address_list_has_tls("a:1, tls:a:2"));
    assert_true(address_list_has_tls("tls:unix:/a a:1"));
    assert_false(address_list_has_tls("a:1 unix:/tls:a"));
    assert_false(address_list_has_tls(""));
}

static void list_is_divided_by_spaces_and_commas(void **state)
{
    const char *cursor = "a:1,b:2 ,\t c:3";
    struct listen_address address;
    struct error_text why;

    (void)state;
    for (const char *name = "abc"; *name; name++) {
        assert_int_equal(address_next(&cursor, &address, &why), ADDRESS_FOUND);
        assert_int_equal(address.host[0], *name);
        assert_int_equal(address.port[0], '1' + (name[0] - 'a'));
    }
    assert_int_equal(address_next(&cursor, &address, &why), ADDRESS_END);
}

static void empty_list_has_no_addresses(void **state)
{
    struct error_text why;

    (void)state;
    assert_true(address_list_check("", &why));
    assert_true(address_list_check(" , ", &why));
}

static void malformed_address_is_refused_with_its_text(void **state)
{
    (void)state;
    expect_bad("a:1 localhost", "`localhost`: expected host:port");
    expect_bad("a:", "expected a port");
    expect_bad("a:65536", "expected a port");
    expect_bad("a:1x", "expected a port");
    expect_bad("a:-1", "expected a port");
    expect_bad("a:000080", "expected a port");
    expect_bad("::1:80", "must be in brackets");
    expect_bad("[]:80", "must be in brackets");
    expect_bad("unix:", "must begin with /");
    expect_bad("unix:relative", "must begin with /");
}

static void too_long_address_is_refused_and_not_cut(void **state)
{
    char text[400] = "unix:/";
    struct error_text why;

    (void)state;
    memset(text + 6, 'p', 106);
    assert_true(address_list_check(text, &why));
    text[6 + 106] = 'p';
    expect_bad(text, "too long");
    memset(text, 'h', 255);
    memcpy(text + 255, ":80", 4);
    assert_true(address_list_check(text, &why));
    memset(text, 'h', 256);
    memcpy(text + 256, ":80", 4);
    expect_bad(text, "too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_understood),
        cmocka_unit_test(tls_prefixes_any_form),
        cmocka_unit_test(proxy_prefixes_any_form_also_with_tls),
        cmocka_unit_test(the_list_of_proxies_has_addresses_networks_and_unix),
        cmocka_unit_test(address_with_tls_is_found_in_a_list),
        cmocka_unit_test(list_is_divided_by_spaces_and_commas),
        cmocka_unit_test(empty_list_has_no_addresses),
        cmocka_unit_test(malformed_address_is_refused_with_its_text),
        cmocka_unit_test(too_long_address_is_refused_and_not_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
