/* SPDX-License-Identifier: MIT */
// Every byte of a small journal is flipped in turn: each flip is noticed, no job comes back
// changed, and a repair loses only the record that was hit.
#include "tests/journal/file/forge.h"
#include "tests/journal/file/revive.h"

#include "core/record.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JOBS 8

// The states of a job after each record about it.
struct known {
    unsigned states;
    struct job_change at[4];
    char body[32];
};

struct journal_of_two {
    struct fake_disk *disk;
    struct forge forges[2];
    struct known known[JOBS];
};

static void know(struct journal_of_two *j, const struct job_change *change)
{
    struct known *known = &j->known[change->id];

    known->at[known->states++] = *change;
}

static void submit(struct journal_of_two *j, int place, uint64_t id, const char *body)
{
    struct job_image image = {.now = {.id = id, .state = JOB_READY, .pri = (uint32_t)id},
                              .queue = SLICE("queue"),
                              .ttr = 60,
                              .body = slice_str(body)};

    memcpy(j->known[id].body, body, image.body.len);
    know(j, &image.now);
    forge_job(&j->forges[place], &image);
    // Each record is synced before the next is written.
    forge_number(&j->forges[place], CODEC_SYNCED, j->forges[place].len);
}

static void change(struct journal_of_two *j, int place, enum codec_type type,
                   const struct job_change *change)
{
    know(j, change);
    forge_change(&j->forges[place], type, change);
    forge_number(&j->forges[place], CODEC_SYNCED, j->forges[place].len);
}

static int setup(void **state)
{
    static struct journal_of_two made;
    struct journal_of_two *j = &made;

    memset(j, 0, sizeof *j);
    j->disk = fake_disk_new();
    forge_begin(&j->forges[0], 1, 0);
    forge_number(&j->forges[0], CODEC_IDS, 100);
    submit(j, 0, 1, "one");
    submit(j, 0, 2, "two and more");
    submit(j, 0, 3, "");
    change(j, 0, CODEC_RELEASE, &(struct job_change){.id = 1, .state = JOB_READY, .pri = 11});
    forge_pause(&j->forges[0], SLICE("queue"), 5, REVIVE_WALL + 5);
    forge_begin(&j->forges[1], 2, j->forges[0].len);
    change(j, 1, CODEC_BURY,
           &(struct job_change){.id = 2, .state = JOB_BURIED, .pri = 12, .burial = 1});
    submit(j, 1, 4, "four");
    forge_number(&j->forges[1], CODEC_END, 3);
    forge_number(&j->forges[1], CODEC_SYNCED, j->forges[1].len);
    submit(j, 1, 5, "the last one");
    *state = j;
    return 0;
}

static int teardown(void **state)
{
    struct journal_of_two *j = *state;

    fake_disk_free(j->disk);
    forge_free(&j->forges[0]);
    forge_free(&j->forges[1]);
    return 0;
}

// Each job is in a state that a record about it describes, with its body. Returns the number of
// jobs.
static unsigned check_jobs(const struct journal_of_two *j, const struct broker *broker)
{
    struct broker_info info;
    unsigned count = 0;

    for (uint64_t id = 1; id < JOBS; id++) {
        const struct known *known = &j->known[id];
        const struct job *job = broker_find(broker, id);
        struct job_change now;
        bool as_known = false;

        if (!job) {
            continue;
        }
        job_describe_change(broker, job, &now);
        for (unsigned i = 0; i < known->states; i++) {
            as_known |= now.state == known->at[i].state && now.pri == known->at[i].pri;
        }
        assert_true(as_known);
        assert_true(slice_equal(job_body(job), slice_str(known->body)));
        count++;
    }
    broker_info(broker, &info);
    assert_int_equal(info.jobs[JOB_READY] + info.jobs[JOB_BURIED], count);
    return count;
}

static void put(const struct journal_of_two *j)
{
    forge_put(&j->forges[0], j->disk);
    forge_put(&j->forges[1], j->disk);
}

// The record that the byte is in, or (size_t)-1 for the head.
static size_t hit(const struct forge *forge, size_t byte)
{
    size_t record = forge->count;

    while (record > 0 && forge->marks[record - 1] > byte) {
        record--;
    }
    return record - 1;
}

static const unsigned char masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};

static void flip_each(const struct journal_of_two *j, bool repair,
                      void (*look)(const struct journal_of_two *j, const struct revived *revived,
                                   int place, size_t record))
{
    char name[32];

    for (int place = 0; place < 2; place++) {
        const struct forge *forge = &j->forges[place];

        (void)snprintf(name, sizeof name, "journal.000000000%d", place + 1);
        for (size_t i = 0; i < forge->len * sizeof masks; i++) {
            struct revived revived;

            put(j);
            fake_disk_flip(j->disk, name, i / sizeof masks, masks[i % sizeof masks]);
            revive(&revived, j->disk, repair);
            look(j, &revived, place, hit(forge, i / sizeof masks));
            revived_free(&revived);
        }
    }
}

static void an_untouched_journal_comes_back(void **state)
{
    struct journal_of_two *j = *state;
    struct revived revived;

    put(j);
    revive(&revived, j->disk, false);
    assert_true(revived.good);
    assert_string_equal(revived.log, "");
    assert_int_equal(check_jobs(j, revived.broker), 4);
    assert_null(broker_find(revived.broker, 3));
    assert_int_equal(revived.ids_end, 100);
    revived_free(&revived);
}

static void stops_or_is_torn(const struct journal_of_two *j, const struct revived *revived,
                             int place, size_t record)
{
    bool in_last = place == 1 && record != (size_t)-1 && record + 2 >= j->forges[1].count;
    char name[32];

    // The last job and the record that it was synced: it is unknown whether that record was ever
    // complete.
    if (in_last && revived->good) {
        assert_non_null(strstr(revived->log, "journal_torn"));
        assert_in_range(check_jobs(j, revived->broker), 3, 4);
        return;
    }
    assert_false(revived->good);
    (void)snprintf(name, sizeof name, "journal.000000000%d", place + 1);
    assert_non_null(strstr(revived->why.text, name));
}

static void every_flip_is_noticed(void **state)
{
    flip_each(*state, false, stops_or_is_torn);
}

static void loses_one_record(const struct journal_of_two *j, const struct revived *revived,
                             int place, size_t record)
{
    const struct forge *forge = &j->forges[place];
    bool is_job = record != (size_t)-1 && forge->bytes[forge->marks[record] + 12] == CODEC_JOB;
    bool is_end = record != (size_t)-1 && forge->bytes[forge->marks[record] + 12] == CODEC_END;
    bool of_third = is_job && forge->bytes[forge->marks[record] + CODEC_HEAD] == 3;

    assert_true(revived->good);
    assert_true(revived->damaged || strstr(revived->log, "journal_torn"));
    // Job 3 has ended: if its full record is lost nothing is missed, if its end is, it is back.
    assert_int_equal(check_jobs(j, revived->broker), 4 - (is_job && !of_third) + is_end);
}

static void a_repair_loses_only_the_record_that_was_hit(void **state)
{
    flip_each(*state, true, loses_one_record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_untouched_journal_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(every_flip_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_repair_loses_only_the_record_that_was_hit, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
