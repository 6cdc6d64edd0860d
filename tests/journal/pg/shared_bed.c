/* SPDX-License-Identifier: MIT */
#include "tests/journal/pg/shared_bed.h"

#include "core/broker.h"
#include "tests/support/broker_check.h"
#include "tests/journal/journal_check.h"
#include "journal/pg/pg_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// More turns than that count as endless.
enum { TURNS_MOST = 20000 };
enum { BODY_MAX = 20 << 20 };
#define STEP_FOR MSEC(10)
enum { STEPS_MOST = 100 };

static struct instant present;

nsec_t shared_now(void)
{
    return present.mono;
}

static struct instant read_clocks(void)
{
    return present;
}

void shared_pass(struct shared_bed *bed, nsec_t by_for)
{
    present.mono += by_for;
    present.wall += by_for;
    bed->db->now += by_for;
}

struct shared_bed *shared_bed_new(void)
{
    struct shared_bed *bed = calloc(1, sizeof *bed);

    assert_non_null(bed);
    present = (struct instant){.mono = SEC(1000), .wall = SEC(1700000000)};
    bed->db = fake_db_new();
    bed->a = (struct member){.bed = bed, .name = "a"};
    bed->b = (struct member){.bed = bed, .name = "b"};
    return bed;
}

void shared_bed_free(struct shared_bed *bed)
{
    member_kill(&bed->a);
    member_kill(&bed->b);
    fake_db_free(bed->db);
    free(bed);
}

//
// A worker without a thread
//

static void worker_give(void *self, struct task *task)
{
    struct member *member = self;
    const struct task_runner runner = journal_pg_runner(member->storage);

    runner.run(runner.self, task);
}

static bool worker_done(void *self)
{
    (void)self;
    return true;
}

static void worker_wait(void *self)
{
    (void)self;
}

//
// Life
//

static const struct session_ops session_ops = {0};

static void wait_hook(void *context, nsec_t for_at_most)
{
    struct member *member = context;

    member->step++;
    assert_true(member->step < TURNS_MOST);
    if (member->script) {
        member->script(member);
    }
    shared_pass(member->bed, for_at_most < MSEC(100) ? for_at_most : MSEC(100));
}

static const char *name_of(struct member *member)
{
    if (!member->bed->names) {
        return member->name;
    }
    (void)snprintf(member->own_name, sizeof member->own_name, "%s-%u", member->name,
                   (unsigned)member->bed->made);
    return member->own_name;
}

static void make(struct member *member)
{
    const struct journal_settings settings = {
        .segment_size = member->bed->segment_size ? member->bed->segment_size : 64 * 1024,
        .max_pending = (size_t)256 << 20,
        .fail_for = SEC(3),
        .secret = 1000 * ++member->bed->made, // no two have the same salts
        .now = shared_now,
        .repair = member->bed->repair};
    const char *name = name_of(member);
    const struct pg_settings theirs = {.node = name,
                                       .address = "",
                                       .shard = "main",
                                       .ttl_for = TTL_FOR,
                                       .takes = !member->only_follows,
                                       .yields = member->bed->yields,
                                       .again = member->bed->again,
                                       .demand = member->bed->demand,
                                       .boot = shared_now,
                                       .clock = read_clocks};
    const struct journal_worker worker = {
        .self = member, .give = worker_give, .done = worker_done, .wait = worker_wait};
    struct broker_options options = {.recorder = &journal_recorder, .secret = 11};

    member->rows = fake_rows_new(member->bed->db, name, TTL_FOR);
    member->rows->waits = wait_hook;
    member->rows->context = member;
    member->storage = journal_pg_new(&theirs);
    assert_non_null(member->storage);
    journal_pg_use(member->storage, &member->rows->rows);
    member->journal = journal_new(&settings, member->storage, &worker);
    assert_non_null(member->journal);
    options.store = member->journal;
    member->broker = broker_new(&options, present);
    assert_non_null(member->broker);
    member->step = 0;
    member->last = 0;
}

static void unmake(struct member *member)
{
    broker_session_close(member->session);
    member->session = NULL;
    member->closed_well = journal_close(member->journal);
    broker_free(member->broker);
    member->journal = NULL;
    member->broker = NULL;
    member->storage = NULL;
    member->rows = NULL;
}

bool member_open(struct member *member)
{
    make(member);
    if (member->made) {
        member->made(member);
    }
    if (!journal_open(member->journal, member->broker, &member->why)) {
        member->lost = journal_is_lost(member->journal);
        unmake(member);
        return false;
    }
    broker_check(member->broker);
    journal_check_ledger(member->journal);
    assert_int_equal(
        broker_session_open(member->broker, &session_ops, NULL, CHOICE_OLDEST, &member->session),
        STATUS_OK);
    member_turns(member);
    return true;
}

void member_close(struct member *member)
{
    unmake(member);
}

void member_kill(struct member *member)
{
    if (member->rows) {
        member->rows->cut = true;
        unmake(member);
    }
}

void member_turns(struct member *member)
{
    unsigned turns = 0;

    do {
        broker_tick(member->broker, present);
        while (broker_settle(member->broker)) {
        }
        journal_turn(member->journal);
        journal_check(member->journal);
        assert_true(turns++ < TURNS_MOST);
    } while (broker_next_due(member->broker) <= present.mono ||
             journal_next_due(member->journal) <= present.mono);
    journal_check_ledger(member->journal);
}

void member_pass(struct member *member, nsec_t by_for)
{
    for (; by_for > 0; by_for -= STEP_FOR) {
        shared_pass(member->bed, STEP_FOR);
        member_turns(member);
    }
}

void member_wait(struct member *member)
{
    unsigned steps = 0;

    member_turns(member);
    while (!member_acknowledged(member)) {
        assert_true(steps++ < STEPS_MOST);
        member_pass(member, STEP_FOR);
    }
}

//
// Jobs
//

static void note_position(struct member *member)
{
    uint64_t position = broker_position(member->broker);

    member->last = position > member->last ? position : member->last;
}

uint64_t member_put(struct member *member, const char *queue, size_t len)
{
    static char body[BODY_MAX];
    struct submission submission = {0};
    struct queue *held;
    enum status status;

    assert_true(len <= sizeof body);
    memset(body, 'b', len);
    assert_int_equal(broker_queue_hold(member->broker, slice_str(queue), &held), STATUS_OK);
    status = broker_submit(
        member->broker,
        &(const struct job_spec){.queue = held, .durable = true, .body = slice_of(body, len)}, NULL,
        &submission);
    broker_queue_drop(member->broker, held);
    note_position(member);
    return status == STATUS_OK ? submission.id : 0;
}

void member_end(struct member *member, uint64_t id)
{
    assert_int_equal(broker_cancel(member->broker, NULL, id, true), STATUS_OK);
    note_position(member);
}

//
// Pauses and memos
//

void member_pause(struct member *member, const char *queue, nsec_t pause_for)
{
    struct queue *held;

    assert_int_equal(broker_queue_hold(member->broker, slice_str(queue), &held), STATUS_OK);
    assert_int_equal(broker_pause(member->broker, NULL, held, pause_for), STATUS_OK);
    broker_queue_drop(member->broker, held);
    note_position(member);
}

void member_remember(struct member *member, const char *key, nsec_t until_at)
{
    const struct memo memo = {.kind = MEMO_ANSWER, .key = slice_str(key), .until_at = until_at};

    assert_int_equal(broker_memo_set(member->broker, &memo), STATUS_OK);
    note_position(member);
}

void member_forget(struct member *member, const char *key)
{
    assert_int_equal(broker_memo_drop(member->broker, MEMO_ANSWER, slice_str(key)), STATUS_OK);
    note_position(member);
}

uint64_t member_memos(const struct member *member)
{
    struct memo_usage usage;

    broker_memo_usage(member->broker, MEMO_ANSWER, &usage);
    return usage.count;
}

uint64_t member_pauses(const struct member *member)
{
    uint64_t count, names;

    broker_pauses(member->broker, &count, &names);
    return count;
}

//
// Content
//

bool member_has(const struct member *member, uint64_t id)
{
    return broker_find(member->broker, id) != NULL;
}

uint64_t member_count(const struct member *member)
{
    struct broker_info info;

    broker_info(member->broker, &info);
    return info.jobs[JOB_READY] + info.jobs[JOB_DELAYED] + info.jobs[JOB_RESERVED] +
           info.jobs[JOB_BURIED];
}

bool member_acknowledged(const struct member *member)
{
    return journal_reached(member->journal) >= member->last;
}

bool member_has_same_database(const struct member *member)
{
    const struct pg *pg = pg_of(member->journal);
    const struct rows_lease *lease = &member->bed->db->lease;

    return member->rows->used_ms == lease->since_ms && pg->link.epoch == lease->epoch &&
           pg->link.seq == lease->seq && pg->link.history == lease->history;
}

bool member_is_sound(const struct member *member)
{
    const struct segments *row = &member->journal->segments;
    // The record that says that all was rewritten follows later.
    bool waits = row->removing && journal_reached(member->journal) < row->removable_at;

    return member_acknowledged(member) && member_has_same_database(member) &&
           !segments_need_rewrite(row) && !waits;
}

bool member_may_answer(const struct member *member)
{
    return fence_is_open(journal_pg_fence(member->storage), shared_now());
}

//
// Stories
//

void member_begin(struct member *member)
{
    if (!member_open(member)) {
        fail_msg("not opened: %s", member->why.text);
    }
}

void shared_kill_first_at_once(struct member *self)
{
    if (self->step == 1) {
        member_kill(&self->bed->a);
    }
}

uint64_t member_put_kept(struct member *member, size_t len)
{
    uint64_t id = member_put(member, "q", len);

    assert_true(id > 0);
    member_wait(member);
    return id;
}

void member_churn(struct member *member, uint64_t removed)
{
    const struct fake_db *db = member->bed->db;
    uint64_t until = db->lease.oldest + removed;

    for (int i = 0; db->lease.oldest < until; i++) {
        member_end(member, member_put_kept(member, 8000));
        member_wait(member);
        assert_true(i < 5000);
    }
}

void member_begin_next_unit(struct member *member)
{
    const struct fake_db *db = member->bed->db;
    uint64_t unit = db->lease.unit;

    while (db->lease.unit == unit) {
        (void)member_put_kept(member, 8000);
    }
}
