/* SPDX-License-Identifier: MIT */
// Policies of queues, and sections of the configuration.
#include "tests/admin/wire_admin.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/support/policies.h"

#include <string.h>

#define POLICIES "/api/v1/policies"

static void all_policies_are_listed_in_order(void **state)
{
    struct admin *admin = *state;
    json_t *document = tells(admin->a, SEES(POLICIES), 200);

    assert_int_equal(json_array_size(admin_at(document, "policies")), 2);
    assert_string_equal(text_at(document, "policies/0/glob"), "m*");
    assert_string_equal(text_at(document, "policies/0/origin"), "api");
    assert_string_equal(text_at(document, "policies/0/why_not"), "unreadable");
    assert_int_equal(number_at(document, "policies/0/position"), 10);
    assert_true(json_is_true(admin_at(document, "policies/0/run_time")));
    assert_string_equal(text_at(document, "policies/1/path"), "mail.%2A");
    assert_string_equal(text_at(document, "policies/1/origin"), "/etc/tandem/tandemd.conf:12");
    assert_true(json_is_null(admin_at(document, "policies/1/position")));
    assert_true(json_is_null(admin_at(document, "policies/1/why_not")));
    json_decref(document);
}

static void numbers_and_booleans_have_their_json_types(void **state)
{
    struct admin *admin = *state;
    json_t *document = tells(admin->a, SEES(POLICIES "/mail.%2A"), 200);

    assert_int_equal(json_object_size(admin_at(document, "settings")), 2);
    assert_int_equal(number_at(document, "settings/max_jobs"), 5);
    assert_string_equal(text_at(document, "settings/rate"), "5/m");
    json_decref(document);
    json_decref(tells(admin->a, SEES(POLICIES "/mail"), 404));
}

// More entries than in a slice.
static void a_long_list_is_complete(void **state)
{
    struct admin *admin = *state;
    json_t *document;

    admin->introspect.policy_count = WIRE_INTROSPECT_SECTIONS;
    for (size_t i = 0; i < WIRE_INTROSPECT_SECTIONS; i++) {
        admin->introspect.policies[i] = admin->introspect.sections[0];
    }
    document = tells(admin->a, SEES(POLICIES), 200);
    assert_int_equal(json_array_size(admin_at(document, "policies")), WIRE_INTROSPECT_SECTIONS);
    json_decref(document);
    admin->introspect.policy_count = 0;
    document = tells(admin->a, SEES(POLICIES), 200);
    assert_int_equal(json_array_size(admin_at(document, "policies")), 0);
    json_decref(document);
}

static void the_configuration_contains_named_sections(void **state)
{
    struct admin *admin = *state;
    json_t *document = tells(admin->a, SEES("/api/v1/config"), 200);

    assert_int_equal(json_array_size(admin_at(document, "sections")), 1);
    assert_string_equal(text_at(document, "sections/0/kind"), "queue");
    assert_string_equal(text_at(document, "sections/0/name"), "mail.*");
    assert_string_equal(text_at(document, "sections/0/origin"), "/etc/tandem/tandemd.conf:12");
    assert_int_equal(number_at(document, "sections/0/settings/max_jobs"), 5);
    json_decref(document);
}

static void a_queue_shows_its_policy(void **state)
{
    struct admin *admin = *state;
    const struct policy_rule rule = {.glob = SLICE("mail.*"), .origin = SLICE("x")};
    json_t *document;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(admin->rig), &rule, 1));
    peer_ask(admin->w, SLICE("use mail.out\r\nput 5 0 60 1\r\na\r\nuse other\r\n"));
    document = tells(admin->a, SEES("/api/v1/queues/mail.out"), 200);
    assert_string_equal(text_at(document, "policy/glob"), "mail.*");
    assert_string_equal(text_at(document, "policy/origin"), "/etc/tandem/tandemd.conf:12");
    assert_int_equal(number_at(document, "policy/settings/max_jobs"), 5);
    json_decref(document);
    document = tells(admin->a, SEES("/api/v1/queues/other"), 200);
    assert_true(json_is_null(admin_at(document, "policy")));
    json_decref(document);
}

static json_t *puts_policy(struct admin *admin, const char *document, unsigned status)
{
    return tells(admin->a, admin_change("PUT", POLICIES "/a%2F%2A", document), status);
}

static void a_policy_is_made_of_text_numbers_and_booleans(void **state)
{
    struct admin *admin = *state;
    json_t *document = puts_policy(admin,
                                   "{\"position\": 3, \"max_jobs\": 5, \"rate\": \"5/m\", "
                                   "\"backoff_jitter\": 0.25, \"count_releases\": true, "
                                   "\"other\": false}",
                                   200);

    assert_string_equal(admin->introspect.policy_set, "max_jobs=5 rate=5/m backoff_jitter=0.25 "
                                                      "count_releases=true other=false ");
    assert_string_equal(text_at(document, "glob"), "a/*");
    assert_int_equal(number_at(document, "position"), 3);
    assert_int_equal(number_at(document, "settings/max_jobs"), 77);
    json_decref(document);
    document = puts_policy(admin, "{}", 200);
    assert_int_equal(number_at(document, "position"), 10);
    json_decref(document);
}

static void a_value_of_another_type_is_refused_with_its_key(void **state)
{
    static const char *const bad[] = {"{\"rate\": null}", "{\"rate\": [1]}", "{\"rate\": {}}",
                                      "{\"rate\": \"a\\u0000b\"}"};
    struct admin *admin = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *document = puts_policy(admin, bad[i], 400);

        assert_string_equal(text_at(document, "error"),
                            "rate is not a string, a number, true or false");
        json_decref(document);
    }
    json_decref(puts_policy(admin, "{\"position\": -1}", 400));
    json_decref(puts_policy(admin, "{\"position\": \"first\"}", 400));
    json_decref(puts_policy(admin, "", 400));
}

static void an_error_of_the_process_is_the_reply(void **state)
{
    static const struct {
        enum status status;
        unsigned code;
        const char *error;
    } cases[] = {{STATUS_BAD_NAME, 400, "`it` is wrong"},
                 {STATUS_TOO_LARGE, 409, "`it` is wrong"},
                 {STATUS_NO_MEMORY, 503, "out of memory"},
                 {STATUS_NO_SPACE, 503, "the store has no room"}};
    struct admin *admin = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *document;

        admin->introspect.policy_status = cases[i].status;
        document = puts_policy(admin, "{\"rate\": \"x\"}", cases[i].code);
        assert_string_equal(text_at(document, "error"), cases[i].error);
        json_decref(document);
    }
}

static void a_run_time_policy_is_removed(void **state)
{
    struct admin *admin = *state;

    asks(admin->a, admin_change("DELETE", POLICIES "/m%2A", ""), 204);
    assert_int_equal(admin->introspect.policy_count, 1);
    json_decref(tells(admin->a, admin_change("DELETE", POLICIES "/mail.%2A", ""), 404));
}

static void policies_require_the_right_to_observe_every_queue(void **state)
{
    struct admin *admin = *state;

    rig_callers(admin->rig)->default_grants =
        GRANTS({MAY_OBSERVE, "mail*"}, {MAY_ADMINISTER | MAY_OPERATE, "mail*"});
    assert_false(peer_grant(admin->a, rig_callers(admin->rig)->default_grants));
    json_decref(tells(admin->a, SEES(POLICIES), 403));
    json_decref(tells(admin->a, SEES(POLICIES "/mail.%2A"), 403));
    json_decref(puts_policy(admin, "{}", 403));
    json_decref(tells(admin->a, admin_change("DELETE", POLICIES "/m%2A", ""), 403));
    assert_int_equal(admin->introspect.policy_count, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ADMIN(all_policies_are_listed_in_order),
        ADMIN(numbers_and_booleans_have_their_json_types),
        ADMIN(a_long_list_is_complete),
        ADMIN(the_configuration_contains_named_sections),
        ADMIN(a_queue_shows_its_policy),
        ADMIN(a_policy_is_made_of_text_numbers_and_booleans),
        ADMIN(a_value_of_another_type_is_refused_with_its_key),
        ADMIN(an_error_of_the_process_is_the_reply),
        ADMIN(a_run_time_policy_is_removed),
        ADMIN(policies_require_the_right_to_observe_every_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
