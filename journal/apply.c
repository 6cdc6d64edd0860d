/* SPDX-License-Identifier: MIT */
#include "journal/apply.h"

#include "core/restore.h"
#include "journal/journal_private.h"
#include "journal/space.h"

static void apply_note_id(struct replay_ids *seen, uint64_t id)
{
    if (seen->ids_end <= id) {
        seen->ids_end = id + 1;
    }
}

static enum applied apply_outcome(enum status status)
{
    // A job that is not found has ended, and its full record is gone.
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) {
        return APPLIED;
    }
    return status == STATUS_NO_MEMORY ? APPLIED_NO_MEMORY : APPLIED_NOT;
}

// Most jobs are read for the first time, and then their id is higher than all ids before. A change
// of a missing job, whose full record was copied to a later place or left with its segment, is
// still given to the broker: it may end a lease whose record is there.
static const struct job *apply_find_job(const struct journal *journal,
                                        const struct replay_ids *seen, uint64_t id)
{
    return id < seen->jobs_end ? broker_find(journal->broker, id) : NULL;
}

static enum applied apply_job(struct journal *journal, struct replay_ids *seen,
                              struct segment *segment, const struct job_image *image)
{
    const struct job *old = apply_find_job(journal, seen, image->now.id);
    const struct job *job;
    enum status status;

    if (!segment_make_room(segment)) {
        return APPLIED_NO_MEMORY;
    }
    if (old) {
        ledger_remove(&journal->ledger, &journal->segments.list, old,
                      ledger_size_of(journal->broker, old));
    }
    status = broker_restore_job(journal->broker, image, &job);
    if (status != STATUS_OK) {
        // The replaced job is no longer counted in the ledger, so it must go.
        ENSURE(!old || broker_restore_end(journal->broker, image->now.id) == STATUS_OK);
        return apply_outcome(status);
    }
    ledger_add(&journal->ledger, segment, job, ledger_size_of(journal->broker, job));
    apply_note_id(seen, image->now.id);
    if (seen->jobs_end <= image->now.id) {
        seen->jobs_end = image->now.id + 1;
    }
    return APPLIED;
}

static enum record_kind apply_kind(enum codec_type type)
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
    case CODEC_SET:
        return RECORD_SET;
    case CODEC_MOVE:
    case CODEC_JOB:
    case CODEC_END:
    case CODEC_PAUSE:
    case CODEC_IDS:
    case CODEC_SYNCED:
    case CODEC_DROPPED:
    case CODEC_MEMO:
        break;
    }
    UNREACHABLE();
}

// Updates the ledger if the job was buried or is no longer buried.
static void apply_note_burial(struct journal *journal, const struct job *job, bool was_buried)
{
    if (was_buried && !job_is_buried(job)) {
        ledger_unburied(&journal->ledger);
    } else if (!was_buried && job_is_buried(job)) {
        ledger_buried(&journal->ledger);
    }
}

static enum applied apply_job_change(struct journal *journal, struct replay_ids *seen,
                                     const struct codec_record *record)
{
    const struct job *job = apply_find_job(journal, seen, record->change.id);
    bool was_buried = job && job_is_buried(job);
    enum status status;

    apply_note_id(seen, record->change.id);
    status = broker_restore_change(journal->broker, apply_kind(record->type), &record->change);
    if (status == STATUS_OK) {
        apply_note_burial(journal, job, was_buried);
    }
    return apply_outcome(status);
}

static enum applied apply_move(struct journal *journal, struct replay_ids *seen,
                               const struct codec_record *record)
{
    const struct job *job = apply_find_job(journal, seen, record->change.id);
    bool was_buried = job && job_is_buried(job);
    uint64_t was_size = job ? ledger_size_of(journal->broker, job) : 0;
    enum status status;

    apply_note_id(seen, record->change.id);
    status = broker_restore_move(journal->broker, &record->change, record->name, record->queue_kept,
                                 &record->dead_letter);
    if (status == STATUS_OK) {
        apply_note_burial(journal, job, was_buried);
        ledger_resized(&journal->ledger, was_size, ledger_size_of(journal->broker, job));
    }
    return apply_outcome(status);
}

static enum applied apply_end(struct journal *journal, struct replay_ids *seen, uint64_t id)
{
    const struct job *job = apply_find_job(journal, seen, id);

    apply_note_id(seen, id);
    if (job) {
        ledger_remove(&journal->ledger, &journal->segments.list, job,
                      ledger_size_of(journal->broker, job));
    }
    return apply_outcome(broker_restore_end(journal->broker, id));
}

static enum applied apply_pause(struct journal *journal, struct segment *segment,
                                const struct codec_record *record)
{
    const struct queue *queue;
    enum status status = broker_restore_pause(journal->broker, record->name, record->pause_for,
                                              record->until_at, &queue);

    if (status == STATUS_OK) {
        queue_set_mark(journal->broker, queue, (uint32_t)segment->number);
    }
    return apply_outcome(status);
}

static enum applied apply_memo(struct journal *journal, struct segment *segment,
                               const struct codec_record *record)
{
    const struct memo *memo = NULL;
    enum status status;

    if (record->forgotten) {
        return apply_outcome(
            broker_restore_forget(journal->broker, record->memo.kind, record->memo.key));
    }
    status = broker_restore_memo(journal->broker, &record->memo, &memo);
    if (memo) {
        memo_set_mark(journal->broker, memo, (uint32_t)segment->number);
    }
    return apply_outcome(status);
}

enum applied apply_record(struct journal *journal, struct replay_ids *seen, struct segment *segment,
                          const struct codec_record *record)
{
    switch (record->type) {
    case CODEC_JOB:
        return apply_job(journal, seen, segment, &record->job);
    case CODEC_RELEASE:
    case CODEC_BURY:
    case CODEC_KICK:
    case CODEC_TAKE:
    case CODEC_START:
    case CODEC_SET:
        return apply_job_change(journal, seen, record);
    case CODEC_MOVE:
        return apply_move(journal, seen, record);
    case CODEC_END:
        return apply_end(journal, seen, record->number);
    case CODEC_PAUSE:
        return apply_pause(journal, segment, record);
    case CODEC_MEMO:
        return apply_memo(journal, segment, record);
    case CODEC_IDS:
        apply_note_id(seen, record->number - 1);
        return APPLIED;
    case CODEC_SYNCED:
        return APPLIED;
    case CODEC_DROPPED:
        // A segment cannot drop itself.
        return record->number < segment->number ? APPLIED : APPLIED_NOT;
    }
    UNREACHABLE();
}
