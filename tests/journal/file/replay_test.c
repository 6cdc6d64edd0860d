/* SPDX-License-Identifier: MIT */
// Replay: the meaning of records, and where the youngest segment ends.
#include "tests/journal/file/replay_bed.h"

#include "core/record.h"

#include <stdlib.h>
#include <string.h>

//
// The meaning of records
//

static void an_empty_directory_has_no_jobs(void **state)
{
    struct replay_bed *b = *state;

    assert_true(bed_revive(b, false));
    bed_expect_row(b, 0, 0);
    assert_int_equal(b->revived.ids_end, 0);
    assert_string_equal(b->revived.log, "");
}

static void the_last_record_of_a_job_counts(void **state)
{
    struct replay_bed *b = *state;
    struct job_change now;

    forge_plain(&b->one, 1, "kicked");
    forge_plain(&b->one, 2, "ended");
    forge_plain(&b->one, 3, "released");
    forge_plain(&b->one, 4, "written twice");
    forge_plain(&b->one, 5, "taken");
    for (uint64_t id = 1; id <= 5; id++) {
        forge_change(&b->one, CODEC_BURY,
                     &(struct job_change){.id = id, .state = JOB_BURIED, .burial = 9 - id});
    }
    forge_change(&b->one, CODEC_KICK, &(struct job_change){.id = 1, .state = JOB_READY, .pri = 7});
    forge_number(&b->one, CODEC_END, 2);
    forge_change(&b->one, CODEC_TAKE, &(struct job_change){.id = 3, .state = JOB_READY});
    forge_change(&b->one, CODEC_RELEASE,
                 &(struct job_change){
                     .id = 3, .state = JOB_DELAYED, .due_at = REVIVE_WALL + 5, .attempts = 6});
    forge_plain(&b->one, 4, "the second");
    forge_change(&b->one, CODEC_TAKE, &(struct job_change){.id = 5, .state = JOB_READY});
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    job_describe_change(b->revived.broker, broker_find(b->revived.broker, 1), &now);
    assert_int_equal(now.state, JOB_READY);
    assert_int_equal(now.pri, 7);
    assert_false(bed_has(b, 2));
    job_describe_change(b->revived.broker, broker_find(b->revived.broker, 3), &now);
    assert_int_equal(now.state, JOB_DELAYED);
    assert_int_equal(now.attempts, 6);
    assert_true(slice_equal(job_body(broker_find(b->revived.broker, 4)), SLICE("the second")));
    assert_int_equal(bed_segment(b, 0)->jobs, 4);
}

static void records_about_jobs_that_are_gone_do_nothing(void **state)
{
    struct replay_bed *b = *state;

    forge_change(&b->one, CODEC_KICK, &(struct job_change){.id = 4, .state = JOB_READY});
    forge_number(&b->one, CODEC_END, 4);
    forge_plain(&b->one, 2, "x");
    forge_number(&b->one, CODEC_END, 2);
    forge_change(&b->one, CODEC_RELEASE, &(struct job_change){.id = 2, .state = JOB_READY});
    forge_number(&b->one, CODEC_END, 2);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    assert_false(bed_has(b, 2) || bed_has(b, 4));
    assert_int_equal(b->revived.ids_end, 5);
}

static void a_pause_comes_back(void **state)
{
    struct replay_bed *b = *state;
    struct queue_info info;
    const struct queue *queue;

    forge_plain(&b->one, 1, "x");
    forge_pause(&b->one, SLICE("q"), 8, REVIVE_WALL + 5);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    queue = broker_queue_find(b->revived.broker, SLICE("q"));
    broker_queue_info(b->revived.broker, queue, &info);
    assert_int_equal(info.pause_for, 8);
    assert_int_equal(info.pause_remaining_for, 5);
    assert_int_equal(queue_mark(queue), 1);
}

static void no_id_is_given_out_twice(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 41, "x");
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    assert_int_equal(b->revived.ids_end, 42);
    forge_number(&b->one, CODEC_IDS, 65536);
    forge_number(&b->one, CODEC_IDS, 100);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    assert_int_equal(b->revived.ids_end, 65536);
    forge_change(&b->one, CODEC_KICK, &(struct job_change){.id = 70000, .state = JOB_READY});
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    assert_int_equal(b->revived.ids_end, 70001);
    forge_number(&b->one, CODEC_END, 80000);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    assert_int_equal(b->revived.ids_end, 80001);
    b->two.ids_end = 90000;
    forge_begin(&b->two, 2, b->one.len);
    forge_put(&b->two, b->disk);
    assert_true(bed_revive(b, false));
    assert_int_equal(b->revived.ids_end, 90000);
}

static void segments_are_read_in_order(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 1, "stays");
    forge_plain(&b->one, 2, "moves");
    forge_plain(&b->one, 3, "ends");
    forge_begin(&b->two, 2, b->one.len);
    forge_plain(&b->two, 2, "moves");
    forge_number(&b->two, CODEC_END, 3);
    forge_put(&b->two, b->disk);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    bed_expect_row(b, 1, 2);
    assert_int_equal(job_mark(broker_find(b->revived.broker, 1)), 1);
    assert_int_equal(job_mark(broker_find(b->revived.broker, 2)), 2);
    assert_false(bed_has(b, 3));
    assert_int_equal(bed_segment(b, 0)->end, b->one.len);
    assert_int_equal(bed_segment(b, 1)->end, b->two.len);
    assert_int_equal(bed_segment(b, 1)->synced, b->two.len);
}

static void bodies_of_any_length_come_back(void **state)
{
    static const size_t lens[] = {0,       1,     2048,         2049,    65000,   65448,
                                  65449,   70001, 1048576 - 89, 1048576, 1048577, 3000001,
                                  2500006, 5};
    const size_t count = sizeof lens / sizeof *lens;
    struct replay_bed *b = *state;

    for (size_t i = 0; i < count; i++) {
        forge_large(&b->one, i + 1, lens[i]);
    }
    forge_zeros(&b->one, 4096);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    for (size_t i = 0; i < count; i++) {
        struct slice body = job_body(broker_find(b->revived.broker, i + 1));

        assert_int_equal(body.len, lens[i]);
        assert_memory_equal(body.ptr, b->one.bytes + b->one.marks[i] + CODEC_JOB_FIXED + 1,
                            body.len);
    }
    // In the first byte of the largest body, in its last one, and in its padding.
    bed_flip(b, FIRST, b->one.marks[11] + CODEC_JOB_FIXED + 1);
    assert_true(bed_revive(b, true));
    assert_false(bed_has(b, 12));
    assert_true(bed_has(b, 13));
    bed_flip(b, FIRST, b->one.marks[11] + CODEC_JOB_FIXED + 1);
    bed_flip(b, FIRST, b->one.marks[12] - 1);
    bed_loses(b, FIRST, b->one.marks[11], b->one.marks[12] - b->one.marks[11]);
}

static void other_files_are_let_be(void **state)
{
    struct replay_bed *b = *state;
    size_t len;

    forge_plain(&b->one, 1, "x");
    forge_put(&b->one, b->disk);
    fake_disk_put(b->disk, "lock", "", 0);
    fake_disk_put(b->disk, "damaged.0000000001", "x", 1);
    fake_disk_put(b->disk, "journal.2", "x", 1);
    fake_disk_put(b->disk, "spare", "prepared", 8);
    assert_true(bed_revive(b, false));
    bed_expect_row(b, 1, 1);
    assert_non_null(fake_disk_bytes(b->disk, "damaged.0000000001", &len));
    assert_non_null(fake_disk_bytes(b->disk, "journal.2", &len));
    assert_null(fake_disk_bytes(b->disk, "spare", &len));
}

//
// Where the youngest ends
//

static void zeros_are_a_clean_end(void **state)
{
    struct replay_bed *b = *state;
    size_t end;

    forge_plain(&b->one, 1, "x");
    end = b->one.len;
    forge_zeros(&b->one, 3 * 1048576 + 5);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    assert_string_equal(b->revived.log, "");
    assert_int_equal(bed_segment(b, 0)->end, end);
    assert_int_equal(bed_segment(b, 0)->size, b->one.len);
}

static void a_torn_tail_is_cut(void **state)
{
    struct replay_bed *b = *state;
    size_t torn;
    char said[120];

    forge_plain(&b->one, 1, "x");
    forge_number(&b->one, CODEC_SYNCED, b->one.len);
    forge_plain(&b->one, 2, "the beginning is there, the rest is not");
    torn = b->one.marks[2];
    b->one.len = torn + 40;
    forge_zeros(&b->one, 4000);
    forge_put(&b->one, b->disk);
    assert_true(bed_revive(b, false));
    assert_true(bed_has(b, 1));
    assert_false(bed_has(b, 2) || b->revived.damaged);
    assert_int_equal(bed_segment(b, 0)->end, torn);
    (void)snprintf(said, sizeof said, "journal_torn file=" FIRST " offset=%zu bytes=", torn);
    expect_says(b->revived.log, said);
    expect_says(b->revived.log, "records=0");
    // A repair has nothing else to do there.
    assert_true(bed_revive(b, true));
    assert_false(b->revived.damaged);
    assert_int_equal(bed_segment(b, 0)->end, torn);
}

static void a_tail_with_a_hole_is_cut_at_the_hole(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 1, "x");
    forge_number(&b->one, CODEC_SYNCED, b->one.marks[0]);
    forge_plain(&b->one, 2, "a sector of this has not arrived");
    // The safe part ended there.
    forge_number(&b->one, CODEC_SYNCED, b->one.marks[2]);
    forge_plain(&b->one, 3, "this has");
    forge_number(&b->one, CODEC_END, 1);
    forge_put(&b->one, b->disk);
    bed_flip(b, FIRST, b->one.marks[2] + 20);
    assert_true(bed_revive(b, false));
    expect_says(b->revived.log, "records=3");
    assert_true(bed_has(b, 1));
    assert_false(bed_has(b, 2) || bed_has(b, 3));
    // A repair keeps all good records.
    bed_loses(b, FIRST, b->one.marks[2], b->one.marks[3] - b->one.marks[2]);
    assert_false(bed_has(b, 1) || bed_has(b, 2));
    assert_true(bed_has(b, 3));
    assert_int_equal(bed_segment(b, 0)->end, b->one.len);
    assert_true(bed_segment(b, 0)->damaged);
}

static void a_record_that_goes_beyond_its_file_is_torn(void **state)
{
    static const size_t lens[] = {5, 5000, 70000, 3000000};
    struct replay_bed *b = *state;

    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        forge_begin(&b->one, 1, 0);
        forge_plain(&b->one, 1, "x");
        forge_large(&b->one, 2, lens[i]);
        b->one.len -= 8;
        forge_put(&b->one, b->disk);
        assert_true(bed_revive(b, false));
        assert_true(bed_has(b, 1));
        assert_false(bed_has(b, 2));
        assert_int_equal(bed_segment(b, 0)->end, b->one.marks[1]);
    }
}

static void damage_in_synced_records_stops_the_start(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 1, "x");
    forge_plain(&b->one, 2, "y");
    forge_number(&b->one, CODEC_SYNCED, b->one.len);
    forge_plain(&b->one, 3, "z");
    forge_zeros(&b->one, 5000);
    forge_put(&b->one, b->disk);
    bed_flip(b, FIRST, b->one.marks[1] + 30);
    bed_stops_at(b, FIRST, b->one.marks[1]);
    bed_loses(b, FIRST, b->one.marks[1], b->one.marks[2] - b->one.marks[1]);
    assert_true(bed_has(b, 1) && bed_has(b, 3));
    assert_false(bed_has(b, 2));
}

static void ids_are_skipped_after_a_repair(void **state)
{
    struct replay_bed *b = *state;

    forge_number(&b->one, CODEC_IDS, 65536);
    forge_plain(&b->one, 1, "x");
    forge_number(&b->one, CODEC_SYNCED, b->one.len);
    forge_put(&b->one, b->disk);
    bed_flip(b, FIRST, b->one.marks[0]);
    assert_true(bed_revive(b, true));
    assert_true(b->revived.ids_end > UINT64_C(1) << 32);
}

static void several_damages_are_passed_over(void **state)
{
    struct replay_bed *b = *state;

    for (uint64_t id = 1; id <= 9; id++) {
        forge_plain(&b->one, id, "some body");
    }
    forge_number(&b->one, CODEC_SYNCED, b->one.len);
    forge_bytes(&b->one, SLICE("something that was not finished"));
    forge_put(&b->one, b->disk);
    bed_flip(b, FIRST, b->one.marks[1]);
    bed_flip(b, FIRST, b->one.marks[4] + 50);
    bed_flip(b, FIRST, b->one.marks[5] + 9);
    bed_loses(b, FIRST, b->one.marks[4], b->one.marks[6] - b->one.marks[4]);
    for (uint64_t id = 1; id <= 9; id++) {
        assert_int_equal(bed_has(b, id), id != 2 && id != 5 && id != 6);
    }
    // The record at the end is lost like the rest.
    assert_null(strstr(b->revived.log, "journal_torn"));
    assert_int_equal(bed_segment(b, 0)->end, b->one.marks[9] + CODEC_NUMBER_SIZE);
}

// Puts into a body a record that says that all was synced, sealed for its place.
static void hide(char *body, size_t at, uint64_t salt, uint64_t offset)
{
    codec_put_number(body + at, CODEC_SYNCED, UINT64_MAX);
    codec_seal(body + at, CODEC_NUMBER_SIZE, slice_of(NULL, 0), salt, offset + at);
}

static void records_in_bodies_are_not_taken_for_records(void **state)
{
    struct replay_bed *b = *state;
    uint64_t begin;
    char body[400] = {0};
    struct job_image image = {.now = {.id = 2, .state = JOB_READY},
                              .queue = SLICE("q"),
                              .body = slice_of(body, sizeof body)};

    forge_plain(&b->one, 1, "x");
    begin = b->one.len + CODEC_JOB_FIXED + image.queue.len;
    // Forged with one half of the salt, and one that is valid at another place.
    hide(body, 7, b->one.salt ^ 1, begin);
    hide(body, 47, b->one.salt ^ (UINT64_C(1) << 32), begin);
    memcpy(body + 87, b->one.bytes + b->one.marks[0], b->one.len - b->one.marks[0]);
    forge_job(&b->one, &image);
    forge_number(&b->one, CODEC_END, 7);
    forge_put(&b->one, b->disk);
    bed_flip(b, FIRST, b->one.marks[1]);
    assert_true(bed_revive(b, false));
    expect_says(b->revived.log, "records=1;");
    bed_loses(b, FIRST, b->one.marks[1], b->one.marks[2] - b->one.marks[1]);
    assert_true(bed_has(b, 1));
    // One that knew it would be.
    hide(body, 207, b->one.salt, begin);
    b->one.len = b->one.marks[1];
    b->one.count = 1;
    forge_job(&b->one, &image);
    forge_put(&b->one, b->disk);
    bed_flip(b, FIRST, b->one.marks[1]);
    bed_stops_at(b, FIRST, b->one.marks[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(an_empty_directory_has_no_jobs),
        STORY(the_last_record_of_a_job_counts),
        STORY(records_about_jobs_that_are_gone_do_nothing),
        STORY(a_pause_comes_back),
        STORY(no_id_is_given_out_twice),
        STORY(segments_are_read_in_order),
        STORY(bodies_of_any_length_come_back),
        STORY(other_files_are_let_be),
        STORY(zeros_are_a_clean_end),
        STORY(a_torn_tail_is_cut),
        STORY(a_tail_with_a_hole_is_cut_at_the_hole),
        STORY(a_record_that_goes_beyond_its_file_is_torn),
        STORY(damage_in_synced_records_stops_the_start),
        STORY(ids_are_skipped_after_a_repair),
        STORY(several_damages_are_passed_over),
        STORY(records_in_bodies_are_not_taken_for_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
