/* SPDX-License-Identifier: MIT */

// Results of jobs.

#include "core/policy.h"

#include "tests/admin/wire_admin.h"
#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host_private.h"
#include "tests/support/policies.h"

#include <stdlib.h>
#include <string.h>

#define RESULT "/api/v1/jobs/1/result"

// Results of all queues are kept for a minute; job 1, of q, is held by the second peer.
static void keep(struct admin *t)
{
    const struct policy_rule rule = {.glob = SLICE("*"), .spec = {.keep_result_for = SECONDS(60)}};

    assert_int_equal(set_policies(rig_broker(t->rig), &rule, 1), STATUS_OK);
    says(t->w, "use q\r\n", "USING q\r\n");
    says(t->w, "put 0 0 60 1\r\nx\r\n", "INSERTED 1\r\n");
    says(t->v, "watch q\r\n", "WATCHING 2\r\n");
    says(t->v, "reserve\r\n", "RESERVED 1 1\r\nx\r\n");
}

static void an_ended_job_shows_its_result(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;
    json_t *document;

    keep(t);
    document = tells(t->a, SEES("/api/v1/jobs/1"), 200);
    assert_true(json_is_null(admin_at(document, "result")));
    json_decref(document);
    asks(t->a, SEES(RESULT), 404);
    rig_advance(t->rig, SECONDS(5));
    says(t->v, "complete 1 4\r\ndone\r\n", "DELETED\r\n");
    document = tells(t->a, SEES("/api/v1/jobs/1"), 200);
    assert_int_equal(json_object_size(document), 6);
    assert_int_equal(number_at(document, "id"), 1);
    assert_string_equal(text_at(document, "queue"), "q");
    assert_string_equal(text_at(document, "queue_path"), "q");
    assert_string_equal(text_at(document, "state"), "ended");
    assert_string_equal(text_at(document, "result/end"), "complete");
    assert_true(number_at(document, "result/ended_at") == 1700000005.0);
    assert_true(number_at(document, "result/until") == 1700000065.0);
    assert_string_equal(text_at(document, "result/kept"), "whole");
    assert_int_equal(number_at(document, "result/bytes"), 4);
    assert_string_equal(text_at(document, "data/data"), "done");
    json_decref(document);
    answer = asks(t->a, SEES(RESULT), 200);
    body_is(answer, "done");
    field_is(answer, "Content-Type", "application/octet-stream");
    field_is(answer, "Content-Disposition", "attachment");
    field_is(answer, "X-Content-Type-Options", "nosniff");
    rig_advance(t->rig, SECONDS(60));
    asks(t->a, SEES("/api/v1/jobs/1"), 404);
    asks(t->a, SEES(RESULT), 404);
}

static void data_is_shown_up_to_the_requested_size(void **state)
{
    struct admin *t = *state;
    json_t *document;

    keep(t);
    says(t->v, "complete 1 4\r\ndone\r\n", "DELETED\r\n");
    document = tells(t->a, SEES("/api/v1/jobs/1?body=3"), 200);
    assert_string_equal(text_at(document, "data/data"), "don");
    assert_true(json_is_true(admin_at(document, "data/truncated")));
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/jobs/1?body=0"), 200);
    assert_true(json_is_null(admin_at(document, "data")));
    json_decref(document);
    asks(t->a, SEES(RESULT "?body=0"), 400);
    asks(t->a, SEES("/api/v1/jobs/x/result"), 404);
}

static void data_that_was_not_kept_is_gone(void **state)
{
    const size_t length = RESULT_MAX + 1;
    struct admin *t = *state;
    char *large = malloc(length);
    json_t *document;

    assert_non_null(large);
    memset(large, 'x', length);
    t->bean_settings.max_job_size = 4 << 20;
    keep(t);
    peer_send(t->v, SLICE("complete 1 1048577\r\n"));
    peer_send(t->v, slice_of(large, length));
    says(t->v, "\r\n", "DELETED\r\n");
    document = tells(t->a, SEES("/api/v1/jobs/1"), 200);
    assert_string_equal(text_at(document, "result/kept"), "too_large");
    assert_true(json_is_null(admin_at(document, "data")));
    json_decref(document);
    asks(t->a, SEES(RESULT), 410);
    free(large);
}

static void a_result_of_a_queue_that_the_caller_may_not_observe_is_hidden(void **state)
{
    struct admin *t = *state;

    keep(t);
    says(t->v, "complete 1 4\r\ndone\r\n", "DELETED\r\n");
    asks(t->a, SEES(RESULT), 200);
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "r"});
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
    asks(t->a, SEES("/api/v1/jobs/1"), 404);
    asks(t->a, SEES(RESULT), 404);
}

static void a_reply_with_a_result_waits_until_the_result_is_durable(void **state)
{
    struct admin *t = *state;

    keep(t);
    rig_hold_store(t->rig);
    peer_send(t->v, SLICE("complete 1 4\r\ndone\r\n"));
    rig_run(t->rig);
    waits(t->a, SEES(RESULT));
    waits(t->b, SEES("/api/v1/jobs/1"));
    rig_reach(t->rig);
    (void)answered(t->a, 200);
    (void)answered(t->b, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(an_ended_job_shows_its_result),
        ADMIN(data_is_shown_up_to_the_requested_size),
        ADMIN(data_that_was_not_kept_is_gone),
        ADMIN(a_result_of_a_queue_that_the_caller_may_not_observe_is_hidden),
        ADMIN(a_reply_with_a_result_waits_until_the_result_is_durable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
