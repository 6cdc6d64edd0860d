/* SPDX-License-Identifier: MIT */
#include "tests/core/stage_restart.h"

#include <string.h>

// The monotonic clock of the restarted process.
#define RESTARTED_AT SEC(77)

typedef void (*see_job)(void *context, const struct job *job);

static void each_durable_job(const struct broker *broker, see_job see, void *context)
{
    struct job_walk walk = {0};
    enum status status;

    do {
        const struct job *job = NULL;

        status = broker_job_next(broker, &walk, &job);
        if (status == STATUS_OK && job_is_durable(job)) {
            see(context, job);
        }
    } while (status != STATUS_EMPTY);
}

static struct stage *new_stage(nsec_t wall)
{
    struct stage *s = stage_new((struct broker_options){0}, true);
    struct broker_options options = {0};

    broker_free(s->broker);
    s->now = (struct instant){.mono = RESTARTED_AT, .wall = wall};
    s->broker = broker_new(&options, s->now);
    assert_non_null(s->broker);
    return s;
}

static void finish(struct stage *s, uint64_t last_id)
{
    assert_status(STATUS_OK, broker_restore_finish(s->broker, last_id + 1));
    stage_step(s);
}

struct copying {
    struct stage *from, *to;
    uint64_t last_id;
};

static void copy_job(void *context, const struct job *job)
{
    struct copying *copying = context;
    struct job_image image;
    const struct job *copy = NULL;

    job_describe(copying->from->broker, job, &image);
    assert_status(STATUS_OK, broker_restore_job(copying->to->broker, &image, &copy));
    assert_int_equal(job_id(copy), job_id(job));
    if (job_id(job) > copying->last_id) {
        copying->last_id = job_id(job);
    }
}

static void copy_pauses(struct stage *from, struct stage *to)
{
    const struct queue *queue, *copy;
    nsec_t pause_for, until_at;
    uint32_t cursor = 0;

    while ((queue = broker_queue_next(from->broker, &cursor))) {
        if (queue_describe_pause(from->broker, queue, &pause_for, &until_at)) {
            assert_status(STATUS_OK, broker_restore_pause(to->broker, queue_name(queue), pause_for,
                                                          until_at, &copy));
        }
    }
}

static void copy_memos(struct stage *from, struct stage *to)
{
    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        const struct memo *memo, *copy;
        uint64_t cursor = 0;

        while ((memo = broker_memo_next(from->broker, (enum memo_kind)kind, &cursor))) {
            assert_status(STATUS_OK, broker_restore_memo(to->broker, memo, &copy));
        }
    }
}

struct stage *stage_restart(struct stage *s, nsec_t down_for)
{
    struct copying copying = {.from = s, .to = new_stage(s->now.wall + down_for)};

    each_durable_job(s->broker, copy_job, &copying);
    copy_pauses(s, copying.to);
    copy_memos(s, copying.to);
    finish(copying.to, copying.last_id);
    return copying.to;
}

struct job_image stage_whole_image(void)
{
    return (struct job_image){
        .now =
            {.id = 42,
             .state = JOB_DELAYED,
             .attempts = 2,
             .pri = 7,
             .delay = 60,
             .due_at = STAGE_WALL_AT + SEC(9),
             .counters = {.reserves = 33, .timeouts = 2, .releases = 3, .buries = 4, .kicks = 6}},
        .queue = SLICE("mail"),
        .queue_kept = true,
        .key_kind = KEY_NAME,
        .on_fail = ON_FAIL_DROP,
        .on_loss = ON_LOSS_BACK,
        .max_attempts = 5,
        .ttr = 30,
        .created_ms = (uint64_t)((STAGE_WALL_AT - SEC(100)) / NSEC_PER_MSEC),
        .key = SLICE("k"),
        .reducer = SLICE("reduce"),
        .body = SLICE("body"),
    };
}

struct job_image stage_image(struct stage *s, uint64_t id)
{
    const struct job *job = broker_find(s->broker, id);
    struct job_image image;

    assert_non_null(job);
    job_describe(s->broker, job, &image);
    assert_int_equal(job_variable_len(s->broker, job), image.queue.len + image.key.len +
                                                           image.reducer.len + image.body.len +
                                                           dead_letter_len(&image.dead_letter));
    return image;
}

void stage_expect_same_change(const struct job_change *a, const struct job_change *b)
{
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->on_wall, b->on_wall);
    assert_int_equal(a->imposed, b->imposed);
    assert_int_equal(a->keyed, b->keyed);
    assert_int_equal(a->attempts, b->attempts);
    assert_int_equal(a->pri, b->pri);
    assert_int_equal(a->delay, b->delay);
    assert_int_equal(a->due_at, b->due_at);
    assert_int_equal(a->burial, b->burial);
}

static void expect_same_bytes(struct slice a, struct slice b)
{
    assert_int_equal(a.len, b.len);
    if (a.len) {
        assert_memory_equal(a.ptr, b.ptr, a.len);
    }
}

void stage_expect_same_image(const struct job_image *a, const struct job_image *b)
{
    stage_expect_same_change(&a->now, &b->now);
    expect_same_bytes(a->queue, b->queue);
    assert_int_equal(a->queue_kept, b->queue_kept);
    assert_int_equal(a->dead_letter.why, b->dead_letter.why);
    assert_int_equal(a->dead_letter.attempts, b->dead_letter.attempts);
    assert_int_equal(a->dead_letter.at_ms, b->dead_letter.at_ms);
    expect_same_bytes(a->dead_letter.queue, b->dead_letter.queue);
    assert_int_equal(a->key_kind, b->key_kind);
    assert_int_equal(a->on_fail, b->on_fail);
    assert_int_equal(a->on_loss, b->on_loss);
    assert_int_equal(a->max_attempts, b->max_attempts);
    assert_int_equal(a->ttr, b->ttr);
    assert_int_equal(a->created_ms, b->created_ms);
    assert_int_equal(a->now.counters.reserves, b->now.counters.reserves);
    assert_int_equal(a->now.counters.timeouts, b->now.counters.timeouts);
    assert_int_equal(a->now.counters.releases, b->now.counters.releases);
    assert_int_equal(a->now.counters.buries, b->now.counters.buries);
    assert_int_equal(a->now.counters.kicks, b->now.counters.kicks);
    expect_same_bytes(a->key, b->key);
    expect_same_bytes(a->reducer, b->reducer);
    expect_same_bytes(a->body, b->body);
    assert_int_equal(a->blob != NULL, b->blob != NULL);
}

//
// The tape
//

static struct slice keep(char *room, struct slice bytes)
{
    assert_true(bytes.len < STAGE_TAPE_NAME);
    if (bytes.len) {
        memcpy(room, bytes.ptr, bytes.len);
    }
    return slice_of(room, bytes.len);
}

static struct stage_tape_record *next_record(struct stage_tape *tape, enum record_kind kind)
{
    struct stage_tape_record *record = &tape->records[tape->count++];

    assert_true(tape->count <= STAGE_TAPE);
    *record = (struct stage_tape_record){.kind = kind, .at = *tape->now};
    return record;
}

static void tape_job(struct stage_tape *tape, enum record_kind kind, const struct job *job)
{
    struct stage_tape_record *record = next_record(tape, kind);

    job_describe(tape->broker, job, &record->image);
    job_describe_change(tape->broker, job, &record->image.now);
    assert_int_equal(record->image.body.len, 0);
    record->image.queue = keep(record->queue, record->image.queue);
    record->image.key = keep(record->key, record->image.key);
    record->image.dead_letter.queue = keep(record->past_queue, record->image.dead_letter.queue);
}

static void tape_pause(struct stage_tape *tape, const struct queue *queue)
{
    struct stage_tape_record *record = next_record(tape, RECORD_PAUSE);

    (void)queue_describe_pause(tape->broker, queue, &record->pause_for, &record->until_at);
    record->image.queue = keep(record->queue, queue_name(queue));
}

static bool tape_room(void *store, const struct record *record)
{
    (void)store;
    (void)record;
    return true;
}

static uint64_t tape_append(void *store, const struct record *record)
{
    struct stage_tape *tape = store;

    assert_null(record->memo);
    if (record->kind == RECORD_PAUSE) {
        tape_pause(tape, record->queue);
    } else {
        tape_job(tape, record->kind, record->job);
    }
    return tape->count;
}

static uint64_t tape_position(const void *store, const struct job *job)
{
    (void)store;
    (void)job;
    return 0;
}

const struct recorder stage_tape_recorder = {
    .has_space = tape_room, .append = tape_append, .position = tape_position};

static void tape_submission(void *context, const struct job *job)
{
    tape_job(context, RECORD_SUBMIT, job);
}

void stage_tape_begin(struct stage_tape *tape)
{
    const struct queue *queue;
    uint32_t cursor = 0;

    tape->count = 0;
    each_durable_job(tape->broker, tape_submission, tape);
    while ((queue = broker_queue_next(tape->broker, &cursor))) {
        nsec_t pause_for, until_at;

        if (queue_describe_pause(tape->broker, queue, &pause_for, &until_at)) {
            tape_pause(tape, queue);
        }
    }
}

static void play(struct stage *s, const struct stage_tape_record *record)
{
    const struct queue *queue;
    const struct job *job;

    switch (record->kind) {
    case RECORD_SUBMIT:
        assert_status(STATUS_OK, broker_restore_job(s->broker, &record->image, &job));
        break;
    case RECORD_RELEASE:
    case RECORD_BURY:
    case RECORD_KICK:
    case RECORD_TAKE:
    case RECORD_START:
    case RECORD_SET:
        assert_status(STATUS_OK,
                      broker_restore_change(s->broker, record->kind, &record->image.now));
        break;
    case RECORD_MOVE:
        assert_status(STATUS_OK,
                      broker_restore_move(s->broker, &record->image.now, record->image.queue,
                                          record->image.queue_kept, &record->image.dead_letter));
        break;
    case RECORD_END:
        assert_status(STATUS_OK, broker_restore_end(s->broker, record->image.now.id));
        break;
    case RECORD_MEMO:
    case RECORD_FORGET:
        break; // the tape has none
    case RECORD_PAUSE:
        assert_status(STATUS_OK, broker_restore_pause(s->broker, record->image.queue,
                                                      record->pause_for, record->until_at, &queue));
        break;
    }
}

struct stage *stage_tape_play(const struct stage_tape *tape, nsec_t now)
{
    struct stage *s = new_stage(now);
    uint64_t last_id = 0;

    for (size_t i = 0; i < tape->count; i++) {
        const struct stage_tape_record *record = &tape->records[i];

        play(s, record);
        if (record->image.now.id > last_id) {
            last_id = record->image.now.id;
        }
    }
    finish(s, last_id);
    return s;
}

static void set_present(struct stage *s, struct instant now)
{
    s->now = (struct instant){.mono = now.mono + RESTARTED_AT, .wall = now.wall};
    broker_restore_now(s->broker, s->now);
}

struct stage *stage_tape_follow(const struct stage_tape *tape, uint64_t chance)
{
    struct stage *s = new_stage(tape->now->wall);
    uint64_t last_id = 0;

    for (size_t i = 0; i < tape->count; i++) {
        const struct stage_tape_record *record = &tape->records[i];

        set_present(s, record->at);
        play(s, record);
        if (record->image.now.id > last_id) {
            last_id = record->image.now.id;
        }
        chance = chance * UINT64_C(6364136223846793005) + 1;
        if (chance >> 62 == 0) {
            (void)broker_restore_tidy(s->broker, (unsigned)(chance >> 58) % 16);
            stage_step(s);
        }
    }
    set_present(s, *tape->now);
    finish(s, last_id);
    stage_settle(s);
    return s;
}
