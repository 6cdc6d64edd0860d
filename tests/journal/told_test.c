/* SPDX-License-Identifier: MIT */
// Reports of a disk that is full, and of one that fails in another way: they differ, both are in
// the log and in the statistics, and submitters get an answer.
#include "tests/journal/journal_bed.h"

#include "core/base/log.h"

#include <errno.h>
#include <string.h>

// The events that were logged, each with a blank behind it.
static char events[4096];

static void note_event(void *context, enum log_level level, const char *event,
                       const struct log_field *fields, size_t count)
{
    size_t len = strlen(events);

    (void)context;
    (void)level;
    (void)fields;
    (void)count;
    assert_true(len + strlen(event) + 2 < sizeof events);
    (void)snprintf(events + len, sizeof events - len, "%s ", event);
}

static int listen_to_log(void **state)
{
    (void)state;
    events[0] = '\0';
    log_set_sink(note_event, NULL, LOG_LEVEL_INFO);
    return 0;
}

static int leave_log(void **state)
{
    (void)state;
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    return 0;
}

static unsigned told(const char *event)
{
    unsigned count = 0;

    for (const char *at = events; (at = strstr(at, event)); at += strlen(event)) {
        count++;
    }
    return count;
}

static void put_some(struct bed *bed, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        assert_true(BED_PUT(bed, .body_len = 2900) > 0);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
}

static void assert_job(struct bed *bed, uint64_t id, enum job_state state, uint32_t pri)
{
    const struct job *job = broker_find(bed->broker, id);
    struct job_info info;

    assert_non_null(job);
    broker_job_info(bed->broker, job, &info);
    assert_int_equal(info.state, state);
    assert_int_equal(info.pri, pri);
}

// Descriptors that have run out, for one: there is space, and what is there can be written to.
static void a_file_that_cannot_be_created_is_not_a_full_disk(void **state)
{
    static const int errors[] = {EMFILE, ENFILE, EIO, EROFS, EACCES};

    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        const struct fake_fault fault = {
            .op = FAKE_OPEN, .nth = 1, .effect = FAKE_FAIL, .error = errors[i], .lasting = true};
        struct bed *bed = BED(.sync_every_for = 0);
        uint64_t current;

        (void)bed_turns(bed);
        events[0] = '\0';
        fake_disk_fault(bed->disk, &fault);
        // Several files' worth.
        put_some(bed, 60);
        bed_pass(bed, SEC(10));
        assert_int_equal(told("journal_full "), 0);
        assert_int_equal(told("journal_care_failed "), 1);
        assert_true(bed_info(bed).errors > 0);
        assert_false(bed_info(bed).failing);
        assert_int_equal(bed->gave_up, 0);
        bed_expect_survives_all(bed);
        current = bed_info(bed).current;
        fake_disk_heal(bed->disk);
        bed_pass(bed, SEC(2));
        assert_int_equal(told("journal_care_recovered "), 1);
        put_some(bed, 2);
        assert_true(bed_info(bed).current > current);
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

static void a_start_reports_its_obstacle(void **state)
{
    const struct fake_fault fault = {
        .op = FAKE_OPEN, .nth = 1, .effect = FAKE_FAIL, .error = EROFS, .lasting = true};
    struct bed *bed = bed_new_closed(&(const struct bed_options){.sync_every_for = 0});

    (void)state;
    fake_disk_fault(bed->disk, &fault);
    assert_false(bed_open(bed));
    assert_non_null(strstr(bed->why.text, strerror(EROFS)));
    assert_null(strstr(bed->why.text, "room"));
    bed_free(bed);
}

static void a_full_disk_is_seen_in_the_statistics(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t errors;

    (void)state;
    (void)bed_turns(bed);
    errors = bed_info(bed).errors;
    assert_false(bed_info(bed).failing);
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk));
    for (int i = 0; i < 60; i++) {
        (void)BED_PUT(bed, .body_len = 2900);
        (void)bed_turns(bed);
    }
    assert_int_equal(BED_PUT(bed, .body_len = 2900), 0);
    assert_true(bed_info(bed).errors > errors);
    assert_true(bed_info(bed).failing);
    assert_int_equal(told("journal_full "), 1);
    fake_disk_set_budget(bed->disk, UINT64_MAX);
    bed_pass(bed, SEC(2));
    assert_false(bed_info(bed).failing);
    assert_int_equal(told("journal_has_room "), 1);
    assert_true(BED_PUT(bed, .body_len = 2900) > 0);
    bed_free(bed);
}

static void a_disk_that_is_too_small_is_reported_at_the_start(void **state)
{
    struct bed *bed = bed_new_closed(&(const struct bed_options){.sync_every_for = 0});

    (void)state;
    fake_disk_set_budget(bed->disk, 40000);
    assert_true(bed_open(bed));
    assert_int_equal(told("journal_full "), 1);
    assert_true(bed_info(bed).failing);
    bed_free(bed);
}

// They are not left without an answer until the disk is back.
static void submissions_are_refused_once_given_up_however_much_waits(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = 1 << 20, .max_pending = 20000);

    (void)state;
    (void)bed_turns(bed);
    bed->disk_worker.waits = true;
    assert_true(BED_PUT(bed, .body_len = 1) > 0);
    bed_turn(bed);
    while (journal_pressure(bed->journal) == JOURNAL_EASY) {
        assert_true(BED_PUT(bed, .body_len = 2900) > 0);
    }
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_BEHIND);
    bed_pass(bed, SEC(6));
    assert_int_equal(bed->gave_up, 1);
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_EASY);
    assert_int_equal(BED_PUT(bed, .body_len = 1), 0);
    bed->disk_worker.waits = false;
    assert_true(fake_worker_run(&bed->disk_worker));
    bed_pass(bed, SEC(2));
    assert_true(BED_PUT(bed, .body_len = 1) > 0);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    bed_free(bed);
}

// Answers then wait for nothing. If the process ends before the disk is back, a job is as it was
// before all of these changes.
static void ends_answered_once_given_up_may_be_lost_with_the_process(void **state)
{
    const struct fake_fault fault = {
        .op = FAKE_ANY, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    struct bed *bed = BED(.sync_every_for = MSEC(5));
    uint64_t id = BED_PUT(bed, .body_len = 100);

    (void)state;
    assert_status(STATUS_OK, bed_take_id(bed, id));
    assert_status(STATUS_OK, bed_bury(bed, id, 1));
    bed_pass(bed, SEC(1));
    fake_disk_fault(bed->disk, &fault);
    assert_status(STATUS_OK, bed_kick_id(bed, id));
    assert_true(broker_position(bed->broker) > 0);
    bed_pass(bed, SEC(6));
    assert_int_equal(bed->gave_up, 1);
    assert_false(bed_acknowledged(bed));
    // No record of this is needed; the kick is in memory.
    assert_status(STATUS_OK, bed_take_id(bed, id));
    assert_int_equal(broker_job_position(bed->broker, broker_find(bed->broker, id)), 0);
    assert_status(STATUS_OK, bed_bury(bed, id, 2));
    assert_int_equal(broker_position(bed->broker), 0);
    (void)bed_turns(bed);
    bed_restart(bed, BED_KILLED, 0);
    assert_job(bed, id, JOB_BURIED, 1);
    bed_free(bed);
}

// ... and is durable like all else once the disk is back, in the order of the changes.
static void ends_answered_once_given_up_last_when_the_disk_recovers(void **state)
{
    const struct fake_fault fault = {
        .op = FAKE_ANY, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    struct bed *bed = BED(.sync_every_for = MSEC(5));
    uint64_t id = BED_PUT(bed, .body_len = 100);

    (void)state;
    assert_status(STATUS_OK, bed_take_id(bed, id));
    bed_pass(bed, SEC(1));
    fake_disk_fault(bed->disk, &fault);
    assert_true(BED_PUT(bed, .body_len = 1) > 0);
    bed_pass(bed, SEC(6));
    assert_int_equal(bed->gave_up, 1);
    assert_status(STATUS_OK, bed_bury(bed, id, 2));
    fake_disk_heal(bed->disk);
    bed_pass(bed, SEC(3));
    assert_false(bed_info(bed).failing);
    assert_status(STATUS_OK, bed_kick_id(bed, id));
    assert_true(broker_position(bed->broker) > 0);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    bed_restart(bed, BED_KILLED, 0);
    assert_job(bed, id, JOB_READY, 2);
    bed_free(bed);
}

#define TOLD_TEST(name) cmocka_unit_test_setup_teardown(name, listen_to_log, leave_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOLD_TEST(a_file_that_cannot_be_created_is_not_a_full_disk),
        TOLD_TEST(a_start_reports_its_obstacle),
        TOLD_TEST(a_full_disk_is_seen_in_the_statistics),
        TOLD_TEST(a_disk_that_is_too_small_is_reported_at_the_start),
        TOLD_TEST(submissions_are_refused_once_given_up_however_much_waits),
        TOLD_TEST(ends_answered_once_given_up_may_be_lost_with_the_process),
        TOLD_TEST(ends_answered_once_given_up_last_when_the_disk_recovers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
