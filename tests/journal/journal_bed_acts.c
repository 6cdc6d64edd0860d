/* SPDX-License-Identifier: MIT */
#include "tests/journal/journal_bed.h"

#include "core/durable_lease.h"

#include <stdio.h>
#include <string.h>

struct slice bed_queue(int queue)
{
    static const char *const names[BED_QUEUES] = {"q0", "q1", "q2", "q3, by a longer name"};

    return slice_str(names[queue]);
}

// Two bodies are never the same.
static void make_body(struct bed *bed, char *body, size_t len)
{
    uint64_t dice = ++bed->serial;

    for (size_t i = 0; i < len; i++) {
        body[i] = (char)(fake_dice(&dice) >> 56);
    }
}

static enum status submit(struct bed *bed, struct job_spec *spec, int queue,
                          struct submission *submission)
{
    struct queue *held;
    enum status status = broker_queue_hold(bed->broker, bed_queue(queue), &held);

    if (status != STATUS_OK) {
        return status;
    }
    spec->queue = held;
    status = broker_submit(bed->broker, spec, NULL, submission);
    broker_queue_drop(bed->broker, held);
    return status;
}

static struct slice text_slice(const char *text)
{
    return slice_of(text, text ? strlen(text) : 0);
}

enum status bed_try_put(struct bed *bed, const struct bed_put *put, uint64_t *id)
{
    static char body[1 << 20];
    struct job_spec spec = {
        .pri = put->pri,
        .start_kind = put->at          ? START_AT
                      : put->delay_for ? START_AFTER
                                       : START_NOW,
        .start = put->at ? put->at : put->delay_for,
        .ttr_for = put->ttr_for,
        .key_kind = put->key ? KEY_NAME : KEY_NONE,
        .key = text_slice(put->key),
        .reducer = text_slice(put->reducer),
        .max_attempts = put->max_attempts,
        .on_fail = put->on_fail,
        .durable = !put->fleeting,
        .body = slice_of(body, put->body_len),
    };
    struct submission submission = {0};
    uint64_t last = bed->last;
    enum status status;

    assert_true(put->body_len <= sizeof body);
    make_body(bed, body, put->body_len);
    status = submit(bed, &spec, put->queue, &submission);
    if (status == STATUS_OK && bed->book) {
        book_note_id(bed->book, submission.id, broker_position(bed->broker));
    }
    // A caller gets the position of its own records.
    assert_true(bed->last == last || broker_position(bed->broker) == bed->last);
    *id = submission.id;
    return status;
}

uint64_t bed_put(struct bed *bed, const struct bed_put *put)
{
    uint64_t id = 0;
    enum status status = bed_try_put(bed, put, &id);

    assert_true(status == STATUS_OK || status == STATUS_NO_SPACE || status == STATUS_NO_MEMORY);
    return status == STATUS_OK ? id : 0;
}

uint64_t bed_take(struct bed *bed)
{
    const struct job *job;

    return broker_take(bed->worker, &job) == STATUS_OK ? job_id(job) : 0;
}

enum status bed_take_id(struct bed *bed, uint64_t id)
{
    const struct job *job;

    return broker_take_id(bed->worker, id, &job);
}

enum status bed_complete(struct bed *bed, uint64_t id)
{
    return broker_complete(bed->worker, id, NULL);
}

enum status bed_fail(struct bed *bed, uint64_t id)
{
    return broker_fail(bed->worker, id, NULL);
}

enum status bed_release(struct bed *bed, uint64_t id, uint32_t pri, nsec_t delay_for)
{
    return broker_release(bed->worker, id, pri, delay_for);
}

enum status bed_bury(struct bed *bed, uint64_t id, uint32_t pri)
{
    return broker_bury(bed->worker, id, pri);
}

enum status bed_cancel(struct bed *bed, uint64_t id)
{
    return broker_cancel(bed->broker, NULL, id, true);
}

enum status bed_act(struct bed *bed, uint64_t id, const struct job_act *act)
{
    return broker_act(bed->broker, NULL, id, act);
}

static struct queue *queue_of(struct bed *bed, int queue)
{
    struct queue *found = broker_queue_find(bed->broker, bed_queue(queue));

    assert_non_null(found); // the worker is subscribed to it
    return found;
}

uint32_t bed_kick(struct bed *bed, int queue, uint32_t bound)
{
    struct kick kick;
    enum status status;

    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, queue_of(bed, queue), bound, &kick));
    do {
        status = broker_kick(bed->broker, queue_of(bed, queue), &kick);
    } while (status == STATUS_MORE);
    return kick.kicked;
}

enum status bed_kick_id(struct bed *bed, uint64_t id)
{
    return broker_kick_id(bed->broker, NULL, id);
}

enum status bed_pause(struct bed *bed, int queue, nsec_t pause_for)
{
    return broker_pause(bed->broker, NULL, queue_of(bed, queue), pause_for);
}

enum { REMEMBERED_MAX = 500000 };

struct bed_key {
    char bytes[8];
};

static struct slice key_of(struct bed_key *room, int key)
{
    int len = snprintf(room->bytes, sizeof room->bytes, "m%d", key);

    return slice_of(room->bytes, (size_t)len);
}

enum status bed_remember(struct bed *bed, enum memo_kind kind, int key, size_t len, nsec_t until)
{
    struct bed_key room;
    struct memo memo = {
        .kind = kind, .key = key_of(&room, key), .until_at = until ? until : NSEC_NEVER};
    // No allocation but the broker's own, which may be made to fail.
    static char value[REMEMBERED_MAX];

    assert_true(len <= sizeof value);
    memset(value, (int)(++bed->serial & 0x7f), len);
    memo.value = slice_of(value, len);
    return broker_memo_set(bed->broker, &memo);
}

enum status bed_forget(struct bed *bed, enum memo_kind kind, int key)
{
    struct bed_key room;

    return broker_memo_drop(bed->broker, kind, key_of(&room, key));
}

void bed_lose(struct bed *bed)
{
    broker_session_close(bed->worker);
    while (broker_settle(bed->broker)) {
    }
    assert_true(bed_begin_work(bed));
    bed_note_attempts(bed);
}

bool bed_acknowledged(const struct bed *bed)
{
    return journal_reached(bed->journal) >= bed->last;
}

struct store_info bed_info(const struct bed *bed)
{
    struct store_info info;

    journal_recorder.info(bed->journal, &info);
    return info;
}

uint64_t bed_count(const struct bed *bed)
{
    struct broker_info info;
    uint64_t count = 0;

    broker_info(bed->broker, &info);
    for (int i = 0; i < JOB_STATES; i++) {
        count += info.jobs[i];
    }
    return count;
}

//
// Leases
//

void bed_keep_lease(struct bed *bed, uint64_t id)
{
    const struct durable_lease lease = {.job_id = id};

    broker_lease_persist(bed->worker, &lease);
}

void bed_resume_leases(struct bed *bed)
{
    struct durable_lease lease;
    uint64_t cursor = 0;

    while (broker_durable_lease_next(bed->broker, &cursor, &lease)) {
        if (broker_lease_resume(bed->worker, &lease) != STATUS_OK) {
            broker_lease_discard(bed->broker, lease.job_id);
        }
    }
}
