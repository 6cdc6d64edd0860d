/* SPDX-License-Identifier: MIT */
// Certificates: which of their names a rule is for.
#include "tests/access/rules.h"

static bool fits_name(const char *glob, struct slice name)
{
    char text[128];
    struct access *access;
    unsigned rights;

    (void)snprintf(text, sizeof text, "cert:%s work *", glob);
    access = rules_of(text);
    rights = rights_of(access, peer_named(&name), "q");
    access_free(access);
    return rights == MAY_WORK;
}

#define FITS(glob, name) fits_name(glob, SLICE(name))

static void a_glob_fits_the_whole_name(void **state)
{
    (void)state;
    assert_true(FITS("worker-*.example", "worker-7.example"));
    assert_true(FITS("worker-*.example", "worker-7.site.example"));
    assert_false(FITS("worker-*.example", "worker-7.example.org"));
    assert_false(FITS("worker-*.example", "xworker-7.example"));
    assert_false(FITS("worker-?.example", "worker-77.example"));
    assert_true(FITS("*", "anything"));
    assert_true(FITS("ops@example.org", "ops@example.org"));
    assert_true(FITS("spiffe://example/ns/*", "spiffe://example/ns/mail"));
    assert_true(FITS("10.0.0.1", "10.0.0.1"));
    assert_true(FITS("Mail\\x20Worker\\x23[12]", "Mail Worker#2"));
}

static void any_of_the_names_will_do(void **state)
{
    const struct slice names[] = {{"a", 1}, {"b", 1}, {"c", 1}};
    struct access_peer peer = {.names = names, .name_count = 3};
    struct access *access = rules_of("cert:c work *\ncert:[ab] submit *");

    (void)state;
    assert_int_equal(rights_of(access, peer, "q"), MAY_WORK | MAY_SUBMIT);
    peer.name_count = 2;
    assert_int_equal(rights_of(access, peer, "q"), MAY_SUBMIT);
    peer.name_count = 0;
    assert_int_equal(rights_of(access, peer, "q"), 0);
    access_free(access);
}

static void names_of_hosts_are_the_same_in_upper_case(void **state)
{
    (void)state;
    assert_true(FITS("worker-*.example", "Worker-7.EXAMPLE"));
    assert_true(FITS("Worker-*.Example", "worker-7.example"));
    assert_true(FITS("[A-C]x", "bX"));
    assert_true(FITS("\\x41x", "ax"));
    assert_true(FITS("*.EXAMPLE", "*.example"));
}

static void other_names_are_not(void **state)
{
    (void)state;
    assert_false(FITS("ops@example.org", "Ops@example.org"));
    assert_false(FITS("spiffe://example/admin", "spiffe://example/Admin"));
    assert_false(FITS("mail\\x20worker", "Mail worker"));
    assert_false(FITS("\xc3\xa4x", "\xc3\xa4X"));
}

static void a_name_with_a_control_character_fits_nothing(void **state)
{
    (void)state;
    assert_false(FITS("*", "worker.example\0.evil.example"));
    assert_false(FITS("worker.example", "worker.example\0"));
    assert_false(FITS("worker.example\\x00*", "worker.example\0x"));
    assert_false(FITS("*", "a\nb"));
    assert_false(FITS("*", "a\x7f"));
    assert_false(FITS("*", ""));
}

static void a_name_that_is_too_long_matches_no_rule(void **state)
{
    static char bytes[1025];

    (void)state;
    memset(bytes, 'a', sizeof bytes);
    assert_true(fits_name("a*a", slice_of(bytes, 255)));
    assert_true(fits_name("a*a", slice_of(bytes, 256)));
    assert_true(fits_name("a*a", slice_of(bytes, 1024)));
    assert_false(fits_name("a*a", slice_of(bytes, 1025)));
}

static void a_host_name_has_a_maximum_length(void **state)
{
    static char bytes[256];

    (void)state;
    memset(bytes, 'A', sizeof bytes);
    assert_true(fits_name("a*", slice_of(bytes, 255)));
    assert_false(fits_name("a*", slice_of(bytes, 256)));
    assert_true(fits_name("A*", slice_of(bytes, 256)));
}

static void names_beyond_a_number_are_not_looked_at(void **state)
{
    struct slice names[ACCESS_NAMES_MAX + 1];
    struct access_peer peer = {.names = names, .name_count = ACCESS_NAMES_MAX + 1};
    struct access *access = rules_of("cert:b work *");

    (void)state;
    for (size_t i = 0; i < peer.name_count; i++) {
        names[i] = SLICE("a");
    }
    names[ACCESS_NAMES_MAX] = SLICE("b");
    assert_int_equal(rights_of(access, peer, "q"), 0);
    names[ACCESS_NAMES_MAX - 1] = SLICE("b");
    assert_int_equal(rights_of(access, peer, "q"), MAY_WORK);
    access_free(access);
}

static void a_malformed_glob_is_refused(void **state)
{
    (void)state;
    expect_refused("cert: work *", "rules:1: \"cert:\": cert: requires a valid glob");
    expect_refused("cert:[a work *", "rules:1: \"cert:[a\": cert: requires a valid glob");
    expect_refused("cert:\\x4 work *",
                   "rules:1: \"cert:\\x4\": \\x is not followed by two hexadecimal digits");
    expect_refused("cert:\\x41[ work *", "rules:1: \"cert:\\A[\": cert: requires a valid glob");
    expect_refused("cert:[Z-a] work *",
                   "rules:1: \"cert:[Z-a]\": the glob has a range from upper case to lower case");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_glob_fits_the_whole_name),
        cmocka_unit_test(any_of_the_names_will_do),
        cmocka_unit_test(names_of_hosts_are_the_same_in_upper_case),
        cmocka_unit_test(other_names_are_not),
        cmocka_unit_test(a_name_with_a_control_character_fits_nothing),
        cmocka_unit_test(a_name_that_is_too_long_matches_no_rule),
        cmocka_unit_test(a_host_name_has_a_maximum_length),
        cmocka_unit_test(names_beyond_a_number_are_not_looked_at),
        cmocka_unit_test(a_malformed_glob_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
