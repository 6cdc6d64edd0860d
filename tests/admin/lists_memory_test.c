/* SPDX-License-Identifier: MIT */

// Every allocation of lists of queues and jobs fails once: nothing crashes, nothing leaks, and the
// operator gets the complete list, 503, or a closed connection.

#include "tests/admin/wire_admin.h"
#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/support/nth_alloc.h"

#include "tests/support/broker_check.h"
#include "tests/support/policies.h"
#include "core/policy.h"

#include <stdlib.h>
#include <string.h>

static bool begins(struct slice heard, const char *text)
{
    return heard.len >= strlen(text) && memcmp(heard.ptr, text, strlen(text)) == 0;
}

// A chunked reply has its last chunk; a reply with a length is staged at once.
static bool is_whole(struct slice heard)
{
    return begins(heard, "HTTP/1.1 200 ") &&
           (!strstr(heard.ptr, "chunked") ||
            memcmp(heard.ptr + heard.len - 5, "0\r\n\r\n", 5) == 0);
}

// Sends the request with the n-th allocation failing. False if there were fewer than n.
static bool ask(const char *target, size_t n)
{
    const struct policy_rule rule = {.glob = SLICE("*"), .spec = {.keep_result_for = SECONDS(60)}};
    struct slice said = SEES(target);
    struct slice heard;
    struct admin *t;
    void *state;
    size_t made;

    assert_int_equal(admin_setup(&state), 0);
    t = state;
    assert_int_equal(set_policies(rig_broker(t->rig), &rule, 1), STATUS_OK);
    broker_observe(rig_broker(t->rig), true);
    (void)peer_ask(t->w, SLICE("use q\r\nput 0 0 60 1\r\nx\r\nput 0 0 60 3000\r\n"));
    for (int i = 0; i < 300; i++) {
        (void)peer_ask(t->w, SLICE("0123456789"));
    }
    (void)peer_ask(t->w, SLICE("\r\nuse r\r\nput 0 9 9 1\r\nx\r\nwatch q\r\nreserve\r\n"));
    (void)peer_ask(t->w, SLICE("use s\r\nput 0 0 60 1\r\nx\r\n"));
    (void)peer_ask(t->v, SLICE("reserve-job 4\r\ncomplete 4 4\r\ndone\r\n"));
    nth_alloc_fail(n);
    peer_send(t->a, said);
    rig_run(t->rig);
    made = nth_alloc_count();
    nth_alloc_fail(0);
    heard = peer_hear(t->a);
    assert_true(is_whole(heard) || begins(heard, "HTTP/1.1 503 ") || peer_closed(t->a));
    assert_true(made >= n || is_whole(heard));
    broker_check(rig_broker(t->rig));
    (void)admin_teardown(&state);
    return made >= n;
}

static void lists_survive_every_failing_allocation(void **state)
{
    static const char *const targets[] = {
        "/api/v1/queues?sort=-ready&limit=2",
        "/api/v1/queues?limit=1",
        "/api/v1/queues/q",
        "/api/v1/queues/q/jobs",
        "/api/v1/jobs/1",
        "/api/v1/jobs/2",
        "/api/v1/jobs/2?body=0",
        "/api/v1/jobs/2/body",
        "/api/v1/jobs/4",
        "/api/v1/jobs/4?body=0",
        "/api/v1/jobs/4/result",
        "/api/v1/export",
    };

    (void)state;
    json_set_alloc_funcs(malloc, free); // which are the test's, as nowhere in its library
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        size_t n = 1;

        while (ask(targets[i], n)) {
            n++;
        }
        assert_true(n > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_survive_every_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
