/* SPDX-License-Identifier: MIT */

// What records say, done: to the broker, and to the books.

#include "core/restore.h"
#include "journal/file/replay.h"

static void see_id(struct replay *replay, uint64_t id)
{
    if (replay->ids_end <= id) {
        replay->ids_end = id + 1;
    }
}

static enum applied outcome(enum status status)
{
    // A job that is not found has ended, and its record is gone.
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        return APPLIED;
    }
    return status == STATUS_NO_MEMORY ? APPLIED_NO_MEMORY : APPLIED_NOT;
}

// Most jobs are seen for the first time, and then their id is higher than any before it.
static const struct job *job_of(const struct replay *replay, uint64_t id)
{
    return id < replay->jobs_end ? broker_find(replay->journal->broker, id) : NULL;
}

static enum applied apply_job(struct replay *replay, struct segment *segment,
                              const struct job_image *image)
{
    struct journal *journal = replay->journal;
    const struct job *old = job_of(replay, image->now.id);
    const struct job *job;
    enum status status;

    if (!segment_make_room(segment)) {
        return APPLIED_NO_MEMORY;
    }
    if (old) {
        ledger_remove(journal, old);
    }
    status = broker_restore_job(journal->broker, image, &job);
    if (status != STATUS_OK) {
        // What it was to replace is in no book any more.
        ENSURE(!old || broker_restore_end(journal->broker, image->now.id) == STATUS_OK);
        return outcome(status);
    }
    ledger_add(journal, segment, job, codec_job_size(job_variable_len(journal->broker, job)));
    see_id(replay, image->now.id);
    if (replay->jobs_end <= image->now.id) {
        replay->jobs_end = image->now.id + 1;
    }
    return APPLIED;
}

static enum record_kind kind_of(enum codec_type type)
{
    switch (type) {
    case CODEC_RELEASE:
        return RECORD_RELEASE;
    case CODEC_BURY:
        return RECORD_BURY;
    case CODEC_KICK:
        return RECORD_KICK;
    case CODEC_TAKE:
        return RECORD_TAKE;
    case CODEC_START:
        return RECORD_START;
    case CODEC_JOB:
    case CODEC_END:
    case CODEC_PAUSE:
    case CODEC_IDS:
    case CODEC_SYNCED:
    case CODEC_DROPPED:
        break;
    }
    UNREACHABLE();
}

static enum applied apply_change(struct replay *replay, const struct codec_record *record)
{
    struct journal *journal = replay->journal;
    const struct job *job = job_of(replay, record->change.id);
    bool was_buried = job && job_is_buried(job);
    enum status status;

    see_id(replay, record->change.id);
    if (!job) {
        return APPLIED;
    }
    status = broker_restore_change(journal->broker, kind_of(record->type), &record->change);
    if (status == STATUS_OK && was_buried != job_is_buried(job)) {
        if (was_buried) {
            ledger_unburied(journal);
        } else {
            ledger_buried(journal);
        }
    }
    return outcome(status);
}

static enum applied apply_end(struct replay *replay, uint64_t id)
{
    const struct job *job = job_of(replay, id);

    see_id(replay, id);
    if (!job) {
        return APPLIED;
    }
    ledger_remove(replay->journal, job);
    return outcome(broker_restore_end(replay->journal->broker, id));
}

static enum applied apply_pause(struct replay *replay, struct segment *segment,
                                const struct codec_record *record)
{
    const struct queue *queue;
    enum status status = broker_restore_pause(replay->journal->broker, record->name,
                                              record->pause_for, record->until_at, &queue);

    if (status == STATUS_OK) {
        ledger_pause(replay->journal, segment, queue);
    }
    return outcome(status);
}

enum applied apply_record(struct replay *replay, struct segment *segment,
                          const struct codec_record *record)
{
    switch (record->type) {
    case CODEC_JOB:
        return apply_job(replay, segment, &record->job);
    case CODEC_RELEASE:
    case CODEC_BURY:
    case CODEC_KICK:
    case CODEC_TAKE:
    case CODEC_START:
        return apply_change(replay, record);
    case CODEC_END:
        return apply_end(replay, record->number);
    case CODEC_PAUSE:
        return apply_pause(replay, segment, record);
    case CODEC_IDS:
        see_id(replay, record->number - 1);
        return APPLIED;
    case CODEC_SYNCED:
        return APPLIED;
    case CODEC_DROPPED:
        // The segment that says it is needed.
        return record->number < segment->number ? APPLIED : APPLIED_NOT;
    }
    UNREACHABLE();
}
