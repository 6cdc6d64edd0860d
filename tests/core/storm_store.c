/* SPDX-License-Identifier: MIT */
#include "tests/core/storm_store.h"

#include "tests/support/broker_check.h"
#include "core/memo.h"
#include "core/restore.h"
#include "tests/core/stage.h"

#include <stdlib.h>
#include <string.h>

static uint32_t draw(struct storm_store *store, uint32_t bound)
{
    store->random = store->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(store->random >> 33) % bound;
}

//
// Recording
//

static bool storm_has_space(void *context, const struct record *record)
{
    struct storm_store *store = context;
    bool room = store->refuses == 0 || draw(store, store->refuses) > 0;

    store->roomy |= room ? 1u << record->kind : 0;
    return room;
}

static struct storm_record *next_record(struct storm_store *store, enum record_kind kind)
{
    struct storm_record *record = &store->records[store->count++];

    assert_true(store->count <= STORM_RECORDS);
    *record = (struct storm_record){.kind = kind};
    return record;
}

// Replaces the bytes of the slice by a copy.
static void keep_bytes(struct storm_store *store, struct slice *slice)
{
    char *to = store->bytes + store->used;

    store->used += slice->len;
    assert_true(store->used <= STORM_BYTES);
    if (slice->len > 0) {
        memcpy(to, slice->ptr, slice->len);
    }
    slice->ptr = to;
}

static void keep_job(struct storm_store *store, enum record_kind kind, const struct job *job)
{
    struct storm_record *record = next_record(store, kind);
    struct job_image *image = &record->image;

    job_describe(store->broker, job, image);
    image->blob = NULL;
    record->to_queue = queue_name(job_queue(store->broker, job));
    record->to_kept = image->queue_kept;
    keep_bytes(store, &image->dead_letter.queue);
    if (kind == RECORD_SUBMIT) {
        keep_bytes(store, &image->queue);
        keep_bytes(store, &image->key);
        keep_bytes(store, &image->reducer);
        keep_bytes(store, &image->body);
    } else {
        job_describe_change(store->broker, job, &image->now);
        keep_bytes(store, &record->to_queue);
    }
}

static void keep_pause(struct storm_store *store, const struct queue *queue)
{
    struct storm_record *record = next_record(store, RECORD_PAUSE);

    (void)queue_describe_pause(store->broker, queue, &record->pause_for, &record->until_at);
    record->to_queue = queue_name(queue);
    keep_bytes(store, &record->to_queue);
}

static void keep_memo(struct storm_store *store, enum record_kind kind, const struct memo *memo)
{
    struct storm_record *record = next_record(store, kind);

    record->memo = *memo;
    record->memo.blob = NULL;
    keep_bytes(store, &record->memo.key);
    keep_bytes(store, &record->memo.value);
}

static void note_job(struct storm_store *store, uint64_t id, bool has)
{
    assert_true(id < STORM_IDS);
    store->jobs += has;
    store->jobs -= store->has[id];
    store->has[id] = has;
}

static void note_record(struct storm_store *store, const struct record *record)
{
    switch (record->kind) {
    case RECORD_SUBMIT:
        note_job(store, job_id(record->job), true);
        keep_job(store, record->kind, record->job);
        job_set_mark(record->job, 1);
        return;
    case RECORD_END:
        assert_true(store->has[job_id(record->job)]);
        note_job(store, job_id(record->job), false);
        keep_job(store, record->kind, record->job);
        return;
    case RECORD_PAUSE:
        keep_pause(store, record->queue);
        return;
    case RECORD_MEMO:
    case RECORD_FORGET:
        keep_memo(store, record->kind, record->memo);
        return;
    case RECORD_RELEASE:
    case RECORD_BURY:
    case RECORD_KICK:
    case RECORD_TAKE:
    case RECORD_START:
    case RECORD_SET:
    case RECORD_MOVE:
        assert_true(store->has[job_id(record->job)]);
        keep_job(store, record->kind, record->job);
        return;
    }
}

static uint64_t storm_append(void *context, const struct record *record)
{
    struct storm_store *store = context;
    bool always = record->kind == RECORD_END || record->kind == RECORD_BURY;

    assert_true(always || store->roomy & 1u << record->kind);
    note_record(store, record);
    return ++store->position;
}

static uint64_t storm_position(const void *context, const struct job *job)
{
    const struct storm_store *store = context;

    (void)job;
    return store->position;
}

static void storm_info(const void *context, struct store_info *info)
{
    (void)context;
    *info = (struct store_info){0};
}

const struct recorder storm_recorder = {.has_space = storm_has_space,
                                        .append = storm_append,
                                        .position = storm_position,
                                        .info = storm_info};

void storm_store_init(struct storm_store *store)
{
    store->records = calloc(STORM_RECORDS, sizeof *store->records);
    store->bytes = malloc(STORM_BYTES);
    assert_true(store->records && store->bytes);
}

void storm_store_begin(struct storm_store *store)
{
    store->roomy = 0;
}

//
// Restoring
//

void storm_store_compare(const struct storm_store *store)
{
    struct job_walk walk = {0};
    const struct job *job = NULL;
    enum status status;
    size_t durable = 0;

    while ((status = broker_job_next(store->broker, &walk, &job)) != STATUS_EMPTY) {
        if (status == STATUS_OK && job_is_durable(job)) {
            assert_true(store->has[job_id(job)]);
            durable++;
        }
    }
    assert_int_equal(durable, store->jobs);
}

static void compact_jobs(struct storm_store *store)
{
    struct job_walk walk = {0};
    const struct job *job = NULL;
    enum status status;

    while ((status = broker_job_next(store->broker, &walk, &job)) != STATUS_EMPTY) {
        if (status == STATUS_OK && job_is_durable(job)) {
            note_record(store, &(struct record){.kind = RECORD_SUBMIT, .job = job});
        }
    }
}

void storm_store_compact(struct storm_store *store)
{
    nsec_t pause_for, until_at;
    const struct queue *queue;
    uint32_t place = 0;

    store->count = 0;
    store->used = 0;
    memset(store->has, 0, sizeof store->has);
    store->jobs = 0;
    compact_jobs(store);
    while ((queue = broker_queue_next(store->broker, &place))) {
        if (queue_describe_pause(store->broker, queue, &pause_for, &until_at)) {
            keep_pause(store, queue);
        }
    }
    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        const struct memo *memo;
        uint64_t cursor = 0;

        while ((memo = broker_memo_next(store->broker, (enum memo_kind)kind, &cursor))) {
            keep_memo(store, RECORD_MEMO, memo);
        }
    }
}

static enum status give_back(struct storm_record *record, struct broker *to)
{
    const struct queue *queue;
    const struct memo *memo;
    const struct job *job;
    enum status status;

    switch (record->kind) {
    case RECORD_SUBMIT:
        return broker_restore_job(to, &record->image, &job);
    case RECORD_END:
        return broker_restore_end(to, record->image.now.id);
    case RECORD_MOVE:
        return broker_restore_move(to, &record->image.now, record->to_queue, record->to_kept,
                                   &record->image.dead_letter);
    case RECORD_PAUSE:
        return broker_restore_pause(to, record->to_queue, record->pause_for, record->until_at,
                                    &queue);
    case RECORD_MEMO:
        return broker_restore_memo(to, &record->memo, &memo);
    case RECORD_FORGET:
        status = broker_restore_forget(to, record->memo.kind, record->memo.key);
        return status == STATUS_NOT_FOUND ? STATUS_OK : status; // it has ended by itself
    case RECORD_RELEASE:
    case RECORD_BURY:
    case RECORD_KICK:
    case RECORD_TAKE:
    case RECORD_START:
    case RECORD_SET:
        return broker_restore_change(to, record->kind, &record->image.now);
    }
    return STATUS_NOT_FOUND;
}

void storm_store_restore(struct storm_store *store, struct broker *to, struct instant now)
{
    for (size_t i = 0; i < store->count; i++) {
        assert_int_equal(give_back(&store->records[i], to), STATUS_OK);
        if (draw(store, 100) == 0) {
            broker_restore_now(to, now);
            (void)broker_restore_tidy(to, draw(store, 20));
            broker_check(to);
        }
    }
    assert_int_equal(broker_restore_finish(to, broker_next_id(store->broker) + 100), STATUS_OK);
    broker_check(to);
}

void storm_store_clear(struct storm_store *store)
{
    free(store->records);
    free(store->bytes);
}
