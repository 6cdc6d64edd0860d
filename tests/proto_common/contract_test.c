/* SPDX-License-Identifier: MIT */
// The contract of a Gearman submission, by packet or by HTTP.
#include "proto_common/contract.h"

#include "core/base/nsec.h"
#include "tests/support/with_cmocka.h"

#include <string.h>

static struct job_spec of_retries(int64_t job_retries)
{
    return contract_begin(PRI_NORMAL, true, job_retries, CONTRACT_FAIL_DROPS);
}

static void a_contract_begins_with_neither_key_nor_start_nor_time_to_run(void **state)
{
    struct job_spec spec = contract_begin(PRI_HIGH, false, -1, CONTRACT_FAIL_DROPS);

    (void)state;
    assert_int_equal(spec.pri, PRI_HIGH);
    assert_int_equal(spec.start_kind, START_NOW);
    assert_int_equal(spec.ttr_for, 0);
    assert_int_equal(spec.key_kind, KEY_NONE);
    assert_int_equal(spec.reducer.len, 0);
    assert_int_equal(spec.body.len, 0);
    assert_null(spec.body_blob);
}

static void only_background_jobs_are_durable(void **state)
{
    (void)state;
    assert_false(contract_begin(PRI_LOW, false, -1, CONTRACT_FAIL_DROPS).durable);
    assert_true(contract_begin(PRI_LOW, true, -1, CONTRACT_FAIL_DROPS).durable);
}

static void no_retries_are_one_attempt(void **state)
{
    (void)state;
    assert_int_equal(of_retries(-1).max_attempts, 0);
    assert_int_equal(of_retries(0).max_attempts, 1);
    assert_int_equal(of_retries(1).max_attempts, 1);
    assert_int_equal(of_retries(JOB_ATTEMPTS_MAX).max_attempts, JOB_ATTEMPTS_MAX);
}

static void a_lost_worker_puts_the_job_at_the_back(void **state)
{
    (void)state;
    assert_int_equal(of_retries(3).on_loss, ON_LOSS_BACK);
}

static void a_setting_decides_what_happens_to_a_failed_job(void **state)
{
    (void)state;
    assert_int_equal(contract_begin(PRI_LOW, true, 0, CONTRACT_FAIL_DROPS).on_fail, ON_FAIL_DROP);
    assert_int_equal(contract_begin(PRI_LOW, true, 0, CONTRACT_FAIL_BURIES).on_fail, ON_FAIL_BURY);
}

static void a_unique_is_nothing_the_content_or_a_name(void **state)
{
    struct job_spec none = of_retries(0), content = none, name = none;

    (void)state;
    assert_true(contract_set_unique(&none, SLICE("")));
    assert_int_equal(none.key_kind, KEY_NONE);
    assert_true(contract_set_unique(&content, SLICE("-")));
    assert_int_equal(content.key_kind, KEY_CONTENT);
    assert_int_equal(content.key.len, 0);
    assert_true(contract_set_unique(&name, SLICE("--")));
    assert_int_equal(name.key_kind, KEY_NAME);
    assert_true(slice_equal(name.key, SLICE("--")));
}

static void a_unique_has_64_bytes_at_most(void **state)
{
    struct job_spec spec = of_retries(0);
    char bytes[65];

    (void)state;
    memset(bytes, 'u', sizeof bytes);
    assert_true(contract_set_unique(&spec, slice_of(bytes, 64)));
    assert_false(contract_set_unique(&spec, slice_of(bytes, 65)));
}

static void ignore_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
}

static const struct session_ops ops = {.job_event = ignore_job_event};

static void the_session_watches_only_a_foreground_job(void **state)
{
    struct broker *broker = *state;
    struct wire wire = {.host = NULL};
    struct job_spec foreground = contract_begin(PRI_NORMAL, false, -1, CONTRACT_FAIL_DROPS);
    struct job_spec background = of_retries(-1);
    struct submission submission;
    struct session *session;

    assert_int_equal(broker_session_open(broker, &ops, NULL, CHOICE_OLDEST, &session), STATUS_OK);
    assert_int_equal(contract_submit(broker, &wire, session, SLICE("f"), &foreground, &submission),
                     STATUS_OK);
    assert_non_null(submission.watch);
    assert_int_equal(contract_submit(broker, &wire, session, SLICE("f"), &background, &submission),
                     STATUS_OK);
    assert_null(submission.watch);
    broker_session_close(session);
}

static void an_invalid_submission_changes_nothing(void **state)
{
    struct broker *broker = *state;
    struct wire wire = {.host = NULL};
    struct job_spec spec = of_retries(-1);
    struct submission submission;

    assert_int_equal(contract_submit(broker, &wire, NULL, SLICE(""), &spec, &submission),
                     STATUS_BAD_NAME);
    assert_false(wire.submits);
}

static int broker_setup(void **state)
{
    *state = broker_new(&(struct broker_options){0}, (struct instant){.mono = 1000 * NSEC_PER_SEC});
    return *state ? 0 : -1;
}

static int broker_teardown(void **state)
{
    broker_free(*state);
    return 0;
}

#define WITH_BROKER(test) cmocka_unit_test_setup_teardown(test, broker_setup, broker_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_contract_begins_with_neither_key_nor_start_nor_time_to_run),
        cmocka_unit_test(only_background_jobs_are_durable),
        cmocka_unit_test(no_retries_are_one_attempt),
        cmocka_unit_test(a_lost_worker_puts_the_job_at_the_back),
        cmocka_unit_test(a_setting_decides_what_happens_to_a_failed_job),
        cmocka_unit_test(a_unique_is_nothing_the_content_or_a_name),
        cmocka_unit_test(a_unique_has_64_bytes_at_most),
        WITH_BROKER(the_session_watches_only_a_foreground_job),
        WITH_BROKER(an_invalid_submission_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
