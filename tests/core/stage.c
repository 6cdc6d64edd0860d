/* SPDX-License-Identifier: MIT */
#include "tests/core/stage.h"

#include "tests/support/broker_check.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The number of turns after which work that is still pending counts as endless.
enum { STAGE_PATIENCE = 1000000 };

void stage_step(struct stage *s)
{
    broker_check_step(s->broker);
    s->roomy = 0;
}

void stage_text_add(struct stage_text *text, const char *format, ...)
{
    size_t room;
    va_list args;
    int len;

    if (text->len) {
        len = snprintf(text->bytes + text->len, STAGE_TEXT - text->len, "; ");
        text->len += (size_t)len;
    }
    room = STAGE_TEXT - text->len;
    va_start(args, format);
    len = vsnprintf(text->bytes + text->len, room, format, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len + 2 < room);
    text->len += (size_t)len;
}

static void text_expect(struct stage_text *text, const char *expected)
{
    text->bytes[text->len] = '\0';
    text->len = 0;
    assert_string_equal(text->bytes, expected);
}

//
// The store
//

static bool store_room(void *store, const struct record *record)
{
    struct stage *s = store;

    assert_false(s->settling);
    s->room_was_buried = record->was_buried;
    if (s->refused & STORE_REFUSES(record->kind)) {
        return false;
    }
    s->roomy |= STORE_REFUSES(record->kind);
    return true;
}

static const char *memo_kind_name(const struct memo *memo)
{
    static const char *const names[MEMO_KINDS] = {
        [MEMO_RESULT] = "result", [MEMO_UNIQUE] = "unique",     [MEMO_ANSWER] = "answer",
        [MEMO_POLICY] = "policy", [MEMO_SCHEDULE] = "schedule", [MEMO_FIRED] = "fired",
        [MEMO_SECRET] = "secret", [MEMO_IMPORT] = "import",     [MEMO_LEASE] = "lease",
        [MEMO_RATE] = "rate",
    };

    return names[memo->kind];
}

static uint64_t store_append(void *store, const struct record *record)
{
    static const char *const names[] = {
        [RECORD_SUBMIT] = "submit", [RECORD_RELEASE] = "release", [RECORD_BURY] = "bury",
        [RECORD_KICK] = "kick",     [RECORD_TAKE] = "take",       [RECORD_END] = "end",
        [RECORD_PAUSE] = "pause",   [RECORD_START] = "start",     [RECORD_SET] = "set",
        [RECORD_MOVE] = "move",     [RECORD_MEMO] = "memo",       [RECORD_FORGET] = "forget",
    };
    struct stage *s = store;

    // The submission has reserved room for a burial and for the end.
    if (record->kind != RECORD_BURY && record->kind != RECORD_END) {
        assert_true(s->roomy & STORE_REFUSES(record->kind));
    }
    s->appended++;
    s->was_buried = record->was_buried;
    if (record->kind == RECORD_SUBMIT) {
        job_set_mark(record->job, (uint32_t)s->appended);
    } else if (record->kind == RECORD_MEMO) {
        memo_set_mark(s->broker, record->memo, (uint32_t)s->appended);
    }
    if (s->mute) {
        return s->appended;
    }
    if (record->memo) {
        stage_text_add(&s->recorded, "%s %s", names[record->kind], memo_kind_name(record->memo));
    } else if (record->kind == RECORD_PAUSE) {
        struct slice name = queue_name(record->queue);

        stage_text_add(&s->recorded, "pause %.*s", (int)name.len, name.ptr);
    } else {
        stage_text_add(&s->recorded, "%s %llu", names[record->kind],
                       (unsigned long long)job_id(record->job));
    }
    return s->appended;
}

// The mark of a durable job is the position of its submission.
static uint64_t store_position(const void *store, const struct job *job)
{
    const struct stage *s = store;

    return job_is_durable(job) ? job_mark(job) : s->ids_at;
}

static void store_info(const void *store, struct store_info *info)
{
    const struct stage *s = store;

    *info = (struct store_info){.written = s->appended};
}

static const struct recorder stage_recorder = {.has_space = store_room,
                                               .append = store_append,
                                               .position = store_position,
                                               .info = store_info};

//
// The stage
//

struct stage *stage_new(struct broker_options options, bool with_store)
{
    struct stage *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->now = (struct instant){.mono = STAGE_MONO_AT, .wall = STAGE_WALL_AT};
    if (with_store) {
        options.recorder = &stage_recorder;
        options.store = s;
    }
    s->broker = broker_new(&options, s->now);
    assert_non_null(s->broker);
    stage_step(s);
    return s;
}

void stage_free(struct stage *s)
{
    broker_check(s->broker);
    for (size_t i = 0; i < STAGE_ACTORS; i++) {
        act_close(&s->actors[i]);
    }
    stage_settle(s);
    assert_int_equal(stage_info(s).sessions, 0);
    broker_free(s->broker);
    free(s);
}

int stage_setup(void **state)
{
    *state = stage_new((struct broker_options){0}, true);
    return 0;
}

int stage_teardown(void **state)
{
    stage_free(*state);
    return 0;
}

void stage_settle(struct stage *s)
{
    unsigned patience = STAGE_PATIENCE;

    do {
        bool more;

        broker_tick(s->broker, s->now);
        stage_step(s);
        do {
            s->settling = true;
            more = broker_settle(s->broker);
            s->settling = false;
            stage_step(s);
            assert_true(patience-- > 0);
        } while (more);
    } while (broker_next_due(s->broker) <= s->now.mono);
}

void stage_advance(struct stage *s, nsec_t by_for)
{
    s->now.mono += by_for;
    s->now.wall += by_for;
    stage_settle(s);
}

void stage_advance_to_due(struct stage *s)
{
    nsec_t due_at = broker_next_due(s->broker);

    assert_true(due_at != NSEC_NEVER && due_at >= s->now.mono);
    stage_advance(s, due_at - s->now.mono);
}

void stage_step_wall(struct stage *s, nsec_t by_for)
{
    s->now.wall += by_for;
    stage_settle(s);
}

void stage_expect_told(struct stage *s, const char *text)
{
    text_expect(&s->told, text);
}

void stage_expect(struct stage *s, const char *text)
{
    stage_settle(s);
    stage_expect_told(s, text);
}

void stage_expect_recorded(struct stage *s, const char *text)
{
    text_expect(&s->recorded, text);
}

//
// Jobs
//

struct slice stage_slice(const char *text)
{
    return text ? slice_str(text) : SLICE("");
}

enum status stage_try_put(struct stage *s, struct actor *watcher, const struct plan *plan,
                          struct submission *submission)
{
    struct submission ignored;
    struct job_spec spec = {
        .pri = plan->pri,
        .start_kind = plan->at          ? START_AT
                      : plan->delay_for ? START_AFTER
                                        : START_NOW,
        .start = plan->at ? plan->at : plan->delay_for,
        .ttr_for = plan->ttr_for,
        .key_kind = plan->by_content ? KEY_CONTENT
                    : plan->key      ? KEY_NAME
                                     : KEY_NONE,
        .key = stage_slice(plan->key),
        .reducer = stage_slice(plan->reducer),
        .max_attempts = plan->max_attempts,
        .on_fail = plan->on_fail,
        .on_loss = plan->on_loss,
        .durable = !plan->fleeting,
        .watched = watcher != NULL,
        .body = stage_slice(plan->body),
        .body_blob = plan->blob,
    };
    enum status status =
        broker_queue_hold(s->broker, stage_slice(plan->queue ? plan->queue : "q"), &spec.queue);

    if (status == STATUS_OK) {
        status = broker_submit(s->broker, &spec, watcher ? watcher->session : NULL,
                               submission ? submission : &ignored);
        broker_queue_drop(s->broker, spec.queue);
    }
    stage_step(s);
    return status;
}

static struct submission put(struct stage *s, struct actor *watcher, const struct plan *plan)
{
    struct submission submission = {0};

    assert_status(STATUS_OK, stage_try_put(s, watcher, plan, &submission));
    assert_true(submission.id != 0);
    assert_true((submission.watch != NULL) == (watcher != NULL));
    return submission;
}

uint64_t stage_put(struct stage *s, const struct plan *plan)
{
    return put(s, NULL, plan).id;
}

struct submission act_submit(struct actor *a, const struct plan *plan)
{
    return put(a->stage, a, plan);
}

uint64_t stage_put_buried(struct stage *s, const struct plan *plan)
{
    uint64_t id = stage_put(s, plan);
    struct actor *undertaker = stage_open(s, "undertaker");

    assert_status(STATUS_OK, act_take_id(undertaker, id));
    assert_status(STATUS_OK, act_bury(undertaker, id, plan->pri));
    act_close(undertaker);
    return id;
}

static enum status cancel(struct stage *s, uint64_t id, bool even_held)
{
    enum status status = broker_cancel(s->broker, NULL, id, even_held);

    stage_step(s);
    return status;
}

enum status stage_cancel(struct stage *s, uint64_t id)
{
    return cancel(s, id, false);
}

enum status stage_cancel_held(struct stage *s, uint64_t id)
{
    return cancel(s, id, true);
}

enum status stage_act(struct stage *s, struct actor *by, uint64_t id, const struct job_act *act)
{
    enum status status = broker_act(s->broker, by ? by->session : NULL, id, act);

    stage_step(s);
    return status;
}

uint32_t stage_kick(struct stage *s, const char *queue, uint32_t bound)
{
    struct kick kick;
    struct queue *held;
    enum status status;

    assert_status(STATUS_OK, broker_queue_hold(s->broker, stage_slice(queue), &held));
    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, held, bound, &kick));
    do {
        status = broker_kick(s->broker, held, &kick);
        stage_step(s);
    } while (status == STATUS_MORE);
    broker_queue_drop(s->broker, held);
    assert_true(status == STATUS_OK || status == STATUS_NO_SPACE);
    return kick.kicked;
}

enum status stage_kick_id(struct stage *s, uint64_t id)
{
    enum status status = broker_kick_id(s->broker, NULL, id);

    stage_step(s);
    return status;
}

enum status stage_pause(struct stage *s, const char *queue, nsec_t pause_for)
{
    enum status status = broker_pause(s->broker, NULL, stage_find(s, queue), pause_for);

    stage_step(s);
    return status;
}

void stage_unwatch(struct stage *s, struct watch *watch)
{
    broker_unwatch(watch);
    stage_step(s);
}

void stage_mark(struct stage *s, const struct watch *watch, const char *text)
{
    size_t i = 0;

    while (s->marks[i].watch) {
        i++;
        assert_true(i < STAGE_MARKS);
    }
    s->marks[i] = (struct stage_mark){.watch = watch, .text = text};
}

enum job_state stage_state(struct stage *s, uint64_t id)
{
    return broker_find(s->broker, id) ? stage_job(s, id).state : JOB_GONE;
}

struct job_info stage_job(struct stage *s, uint64_t id)
{
    const struct job *job = broker_find(s->broker, id);
    struct job_info info;

    assert_non_null(job);
    broker_job_info(s->broker, job, &info);
    assert_int_equal(info.id, id);
    return info;
}

bool stage_result_next(struct broker *broker, uint64_t *cursor, struct result *result)
{
    const struct memo *memo;

    while ((memo = broker_memo_next(broker, MEMO_RESULT, cursor))) {
        uint64_t id;

        assert_int_equal(memo->key.len, sizeof id);
        memcpy(&id, memo->key.ptr, sizeof id);
        if (broker_result(broker, le64toh(id), result)) {
            return true;
        }
    }
    return false;
}

struct queue *stage_find(struct stage *s, const char *queue)
{
    return broker_queue_find(s->broker, stage_slice(queue));
}

struct queue_info stage_queue(struct stage *s, const char *queue)
{
    struct queue *found = stage_find(s, queue);
    struct queue_info info;

    assert_non_null(found);
    broker_queue_info(s->broker, found, &info);
    return info;
}

struct broker_info stage_info(struct stage *s)
{
    struct broker_info info;

    broker_info(s->broker, &info);
    return info;
}

void stage_expect_jobs(struct stage *s, const char *queue, uint64_t ready, uint64_t delayed,
                       uint64_t reserved, uint64_t buried)
{
    struct queue_info info = stage_queue(s, queue);

    assert_int_equal(info.jobs[JOB_READY], ready);
    assert_int_equal(info.jobs[JOB_DELAYED], delayed);
    assert_int_equal(info.jobs[JOB_RESERVED], reserved);
    assert_int_equal(info.jobs[JOB_BURIED], buried);
}
