/* SPDX-License-Identifier: MIT */

// Administration by text: the rights that commands need, and the lines that a list shows to a
// caller.

#include "tests/proto_common/wire_callers.h"
#include "tests/proto_gearman/admin_gear.h"

#include <string.h>

#define NOT_ALLOWED "ERR FORBIDDEN Not+allowed\r\n"
#define NOT_FROM_THERE "ERR FORBIDDEN Not+allowed+from+this+address\r\n"

//
// Without rules
//

static void without_rules_a_peer_on_this_machine_may_change_everything(void **state)
{
    struct gear *t = *state;

    types(t->a, "create function f", DONE);
    types(t->a, "maxqueue f 1", DONE);
    (void)peer_ask(t->b, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    types(t->a, "cancel job T:1", DONE);
    types(t->a, "drop function f", DONE);
}

static void without_rules_no_other_peer_may_change_anything(void **state)
{
    struct gear *t = *state;

    (void)peer_ask(t->b, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    types(t->a, "create function g", DONE);
    rig_callers(t->rig)->remote = true;
    types(t->a, "create function h", NOT_FROM_THERE);
    types(t->a, "drop function g", NOT_FROM_THERE);
    types(t->a, "maxqueue f 1", NOT_FROM_THERE);
    types(t->a, "cancel job T:1", NOT_FROM_THERE);
    types(t->a, "CANCEL job", NOT_FROM_THERE);
    types(t->a, "drop function none", NOT_FROM_THERE);
    types(t->a, "status", "f\t1\t0\t0\ng\t0\t0\t0\n.\n");
    types(t->a, "show jobs", "T:1\t0\t0\t1\n.\n");
    types(t->a, "version", "OK 0.1.0\n");
    (void)peer_ask(t->a, REQ(SUBMIT_JOB_BG, "f", "", "y"));
}

static void a_rule_allows_changes_from_any_address(void **state)
{
    struct gear *t = *state;

    (void)peer_ask(t->b, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    rig_callers(t->rig)->remote = true;
    (void)peer_may(t->a, {MAY_OPERATE, "*"});
    types(t->a, "create function h", DONE);
    types(t->a, "drop function h", DONE);
    types(t->a, "maxqueue f 1", DONE);
    types(t->a, "cancel job T:1", DONE);
}

//
// With rules
//

static void without_a_matching_rule_a_local_peer_is_forbidden(void **state)
{
    struct gear *t = *state;

    (void)peer_ask(t->b, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    for (unsigned rights = 0; rights <= MAY_EVERYTHING; rights++) {
        if (rights & MAY_OPERATE) {
            continue;
        }
        (void)peer_may(t->a, {rights, "*"});
        types(t->a, "create function g", NOT_ALLOWED);
        types(t->a, "drop function f", NOT_ALLOWED);
        types(t->a, "maxqueue f 1", NOT_ALLOWED);
        if (rights & MAY_OBSERVE) {
            types(t->a, "cancel job T:1", NOT_ALLOWED);
            types(t->a, "version", "OK 0.1.0\n");
            types(t->a, "getpid", "OK 4242\n");
            types(t->a, "verbose", "OK ERROR\n");
        } else {
            types(t->a, "cancel job T:1", "ERR UNKNOWN_JOB\r\n");
            types(t->a, "version", NOT_ALLOWED);
            types(t->a, "getpid", NOT_ALLOWED);
            types(t->a, "verbose", NOT_ALLOWED);
        }
        types(t->a, "cancel job T:2", "ERR UNKNOWN_JOB\r\n");
    }
    types(t->b, "status", "f\t1\t0\t0\n.\n");
}

static void a_function_is_forbidden_whether_it_exists_or_not(void **state)
{
    struct gear *t = *state;

    types(t->b, "create function there", DONE);
    (void)peer_may(t->a, {MAY_EVERYTHING, "mine"});
    types(t->a, "drop function there", NOT_ALLOWED);
    types(t->a, "drop function nowhere", NOT_ALLOWED);
    types(t->a, "maxqueue there 1", NOT_ALLOWED);
    types(t->a, "maxqueue nowhere 1", NOT_ALLOWED);
    types(t->a, "create function there", NOT_ALLOWED);
    types(t->a, "drop function mine", "ERR function not found\r\n");
    types(t->a, "create function mine", DONE);
    types(t->a, "maxqueue mine 1", DONE);
    types(t->a, "drop function mine", DONE);
}

//
// Lists
//

// Jobs 1 and 2, of `web` and of `mail`, and the worker `c` of both.
static struct gear *set_scene(struct gear *t)
{
    (void)peer_ask(t->b, REQ(SUBMIT_JOB_BG, "web", "w", "x"));
    (void)peer_ask(t->b, REQ(SUBMIT_JOB_BG, "mail", "m", "x"));
    gear_says(t->c, MANY(REQ(CAN_DO, "web"), REQ(CAN_DO, "mail")), NOTHING);
    return t;
}

static void lists_show_only_items_that_may_be_observed(void **state)
{
    struct gear *t = set_scene(*state);

    (void)peer_may(t->a, {MAY_OBSERVE, "web"}, {MAY_SUBMIT | MAY_WORK | MAY_OPERATE, "mail"});
    types(t->a, "status", "web\t1\t0\t1\n.\n");
    types(t->a, "prioritystatus", "web\t0\t1\t0\t1\n.\n");
    types(t->a, "show jobs", "T:1\t0\t0\t1\n.\n");
    types(t->a, "show unique jobs", "w\n.\n");
    types(t->a, "workers", "3 127.0.0.1 - : web\n.\n");
    (void)peer_may(t->a, {MAY_OBSERVE, "none"});
    types(t->a, "status", ".\n");
    types(t->a, "prioritystatus", ".\n");
    types(t->a, "show jobs", ".\n");
    types(t->a, "show unique jobs", ".\n");
    types(t->a, "workers", ".\n");
}

static void the_right_to_observe_everything_shows_every_connection(void **state)
{
    struct gear *t = set_scene(*state);

    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    types(t->a, "status", "web\t1\t0\t1\nmail\t1\t0\t1\n.\n");
    types(t->a, "workers", "3 127.0.0.1 - : mail web\n2 127.0.0.1 - :\n1 127.0.0.1 - :\n.\n");
    // The right for all existing functions is not the right for every function.
    (void)peer_may(t->a, {MAY_OBSERVE, "web"}, {MAY_OBSERVE, "mail"});
    types(t->a, "workers", "3 127.0.0.1 - : mail web\n.\n");
}

// A worker whose line takes several steps; the administrator may see one of its functions, or the
// last.
static void a_long_line_shows_only_functions_that_may_be_observed(void **state)
{
    struct gear *t = *state;

    gear_says(t->c, REQ(CAN_DO, "seen.last"), NOTHING);
    for (int i = 0; i < 500; i++) {
        gear_says(t->c, REQ(CAN_DO, admin_text("f%d", i)), NOTHING);
    }
    gear_says(t->b, REQ(CAN_DO, "f1"), NOTHING);
    (void)peer_may(t->a, {MAY_OBSERVE, "seen.*"});
    types(t->a, "workers", "3 127.0.0.1 - : seen.last\n.\n");
    (void)peer_may(t->a, {MAY_OBSERVE, "unseen"});
    types(t->a, "workers", ".\n");
    types(t->a, "status", ".\n");
}

static void a_worker_that_may_not_be_seen_has_no_line(void **state)
{
    struct gear *t = *state;

    for (int i = 0; i < 500; i++) {
        gear_says(t->c, REQ(CAN_DO, admin_text("f%d", i)), NOTHING);
    }
    gear_says(t->b, REQ(CAN_DO, "seen"), NOTHING);
    (void)peer_may(t->a, {MAY_OBSERVE, "seen"});
    admin_ask(t->a, "workers\n");
    assert_true(admin_step(t, t->a));
    peer_free(t->c);
    t->c = NULL;
    admin_finish(t, t->a);
    assert_string_equal(admin_heard, "2 127.0.0.1 - : seen\n.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(without_rules_a_peer_on_this_machine_may_change_everything),
        ADMIN(without_rules_no_other_peer_may_change_anything),
        ADMIN(a_rule_allows_changes_from_any_address),
        ADMIN(without_a_matching_rule_a_local_peer_is_forbidden),
        ADMIN(a_function_is_forbidden_whether_it_exists_or_not),
        ADMIN(lists_show_only_items_that_may_be_observed),
        ADMIN(the_right_to_observe_everything_shows_every_connection),
        ADMIN(a_long_line_shows_only_functions_that_may_be_observed),
        ADMIN(a_worker_that_may_not_be_seen_has_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
