/* SPDX-License-Identifier: MIT */
// Grants: shared by callers that match the same rules, freed when no caller has them; roles.
#include "tests/access/rules.h"

#include "tests/support/live_bytes.h"
#include "tests/support/rights.h"

#include <stdlib.h>

static struct grants *grants_at(struct access *access, const char *address)
{
    const struct access_peer peer = peer_at(address);
    struct grants *grants = access_of_peer(access, &peer);

    assert_non_null(grants);
    return grants;
}

static void callers_that_match_the_same_rules_share_their_grants(void **state)
{
    struct access *access = rules_of("net:10.0.0.0/8 work *\nnet:10.1.0.0/16 submit *\n"
                                     "token:t:" HASH_ABC " observe *\n");
    struct grants *a = grants_at(access, "10.0.0.1"), *b = grants_at(access, "10.2.0.1");
    struct grants *c = grants_at(access, "10.1.0.1"), *none = grants_at(access, "::1");
    struct grants *also_none = grants_at(access, "11.0.0.1");
    struct grants *token = access_of_token(access, 1), *again = access_of_token(access, 1);

    (void)state;
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_ptr_not_equal(a, none);
    assert_ptr_equal(none, also_none);
    assert_ptr_equal(token, again);
    assert_int_equal(grants_somewhere(none), 0);
    assert_int_equal(grants_everywhere(c), MAY_WORK | MAY_SUBMIT);
    access_free(access);
    assert_int_equal(rights_on(a, SLICE("q")), MAY_WORK);
    grants_unref(a);
    grants_unref(b);
    grants_unref(c);
    grants_unref(none);
    grants_unref(also_none);
    grants_unref(token);
    grants_unref(again);
}

#define USERS 6000

static char *rules_for_users(void)
{
    char *text = malloc(USERS * 32), *at = text;

    assert_non_null(text);
    for (int i = 0; i < USERS; i++) {
        at += snprintf(at, 32, "user:%d work q%d\n", i, i);
    }
    return text;
}

static void unused_grants_are_freed(void **state)
{
    char *text = rules_for_users();
    struct access *access = rules_of(text);
    size_t before = live_bytes();

    (void)state;
    for (uid_t i = 0; i < USERS; i++) {
        assert_int_equal(rights_of(access, peer_user(i, NULL, 0), "q17"), i == 17 ? MAY_WORK : 0);
    }
    assert_in_range(live_bytes() - before, 1, 256 * 1024);
    access_free(access);
    free(text);
}

static void grants_in_use_stay(void **state)
{
    static struct grants *kept[USERS];
    char *text = rules_for_users();
    struct access *access = rules_of(text);

    (void)state;
    for (uid_t i = 0; i < USERS; i += 2) {
        const struct access_peer peer = peer_user(i, NULL, 0);

        kept[i] = access_of_peer(access, &peer);
        assert_non_null(kept[i]);
        (void)rights_of(access, peer_user(i + 1, NULL, 0), "q");
    }
    for (uid_t i = 0; i < USERS; i += 2) {
        const struct access_peer peer = peer_user(i, NULL, 0);
        struct grants *again = access_of_peer(access, &peer);

        assert_ptr_equal(again, kept[i]);
        grants_unref(again);
        grants_unref(kept[i]);
    }
    access_free(access);
    free(text);
}

static void expect_role(struct access *access, struct access_peer peer, const char *role)
{
    struct slice found = access_role_of_peer(access, &peer);

    assert_true(slice_equal(found, slice_str(role)));
}

static void the_first_rule_that_fits_and_has_a_role_names_the_caller(void **state)
{
    struct access *access = rules_of("net:10.0.0.0/8 work *\nnet:10.1.0.0/16 work * inner\n"
                                     "user:7 work * seven # not this\n"
                                     "token:t:" HASH_ABC " work * billing\n"
                                     "token:u:" HASH_DEF " work *\n"
                                     "any observe * guest\nnet:10.2.0.0/16 work * late\n");
    struct slice role;

    (void)state;
    expect_role(access, peer_at("10.1.0.1"), "inner");
    expect_role(access, peer_at("10.2.0.1"), "guest");
    expect_role(access, peer_at("::1"), "guest");
    expect_role(access, peer_user(7, NULL, 0), "seven");
    role = access_role_of_token(access, token_of(access, "abc"));
    assert_true(slice_equal(role, SLICE("billing")));
    role = access_role_of_token(access, token_of(access, "def"));
    assert_true(slice_equal(role, SLICE("guest")));
    access_free(access);
}

static void a_rule_without_a_role_gives_none(void **state)
{
    struct access *access =
        rules_of("any work *\nnet:10.0.0.0/8 work * ten\ntoken:t:" HASH_ABC " work *\n");

    (void)state;
    expect_role(access, peer_at("::1"), "");
    assert_int_equal(access_role_of_token(access, 1).len, 0);
    access_free(access);
}

static void a_role_is_bounded(void **state)
{
    char text[100] = "any work * ";

    (void)state;
    memset(text + 11, 'r', 65);
    expect_refused(text,
                   "rules:1: \"rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr\": ROLE is longer "
                   "than 64 bytes");
    text[11 + 64] = '\0';
    access_free(rules_of(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_that_match_the_same_rules_share_their_grants),
        cmocka_unit_test(unused_grants_are_freed),
        cmocka_unit_test(grants_in_use_stay),
        cmocka_unit_test(the_first_rule_that_fits_and_has_a_role_names_the_caller),
        cmocka_unit_test(a_rule_without_a_role_gives_none),
        cmocka_unit_test(a_role_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
