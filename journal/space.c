/* SPDX-License-Identifier: MIT */
#include "journal/space.h"

uint64_t ledger_size_of(const struct broker *broker, const struct job *job)
{
    return codec_job_size(job_variable_len(broker, job));
}

uint64_t ledger_reserved_for(const struct job *job)
{
    return job_is_buried(job) ? RESERVED_END : RESERVED_END + RESERVED_BURIAL;
}

static void ledger_enter(struct segment *segment, const struct job *job)
{
    job_set_mark(job, (uint32_t)segment->number);
    segment_note_id(segment, job_id(job));
    segment->jobs++;
}

static void ledger_leave(const struct segment_list *segments, const struct job *job)
{
    struct segment *segment = segment_list_marked(segments, job_mark(job));

    ENSURE(segment && segment->jobs > 0);
    segment->jobs--;
}

void ledger_add(struct ledger *ledger, struct segment *segment, const struct job *job, size_t size)
{
    ledger_enter(segment, job);
    ledger->live += size;
    ledger->reserved += ledger_reserved_for(job);
}

void ledger_remove(struct ledger *ledger, const struct segment_list *segments,
                   const struct job *job, uint64_t size)
{
    ledger_leave(segments, job);
    ledger->live -= size;
    ledger->reserved -= ledger_reserved_for(job);
}

void ledger_move(const struct segment_list *segments, struct segment *to, const struct job *job)
{
    ledger_leave(segments, job);
    ledger_enter(to, job);
}

uint64_t ledger_other_bytes(const struct broker *broker)
{
    uint64_t pauses, names, memos, bytes;

    broker_pauses(broker, &pauses, &names);
    broker_memos(broker, &memos, &bytes);
    return pauses * (codec_pause_size(0) + 7) + names + memos * (codec_memo_size(0, 0) + 7) + bytes;
}

//
// Space for a record
//

// Chunks set aside: several times what the longest turn can append without being refused.
enum { CHUNKS_SET_ASIDE = 32 };

bool space_has_memory(struct journal *journal)
{
    return chunk_pool_fill(&journal->batches.pool, CHUNKS_SET_ASIDE) &&
           segment_make_room(journal->segments.current) && segments_make_room(&journal->segments);
}

bool space_memory_is_low(const struct journal *journal)
{
    return journal->batches.pool.count < CHUNKS_SET_ASIDE / 2;
}

static size_t space_record_size(const struct journal *journal, const struct record *record,
                                uint64_t *extra)
{
    *extra = 0;
    switch (record->kind) {
    case RECORD_SUBMIT:
        *extra = RESERVED_END + RESERVED_BURIAL;
        return (size_t)ledger_size_of(journal->broker, record->job);
    case RECORD_KICK:
    case RECORD_TAKE:
        *extra = record->was_buried ? RESERVED_BURIAL : 0;
        return CODEC_CHANGE_SIZE;
    case RECORD_RELEASE:
    case RECORD_START:
    case RECORD_SET:
        return CODEC_CHANGE_SIZE;
    case RECORD_MOVE:
        return codec_move_size(queue_name(record->queue).len, dead_letter_len(record->dead_letter));
    case RECORD_PAUSE:
        return codec_pause_size(queue_name(record->queue).len);
    case RECORD_MEMO:
        return codec_memo_size(record->memo->key.len, record->memo->value.len);
    case RECORD_FORGET:
        return codec_memo_size(record->memo->key.len, 0);
    case RECORD_BURY:
    case RECORD_END:
        break;
    }
    UNREACHABLE();
}

uint64_t space_segment_size(uint64_t asked)
{
    const uint64_t least = CODEC_SEGMENT_HEAD + CODEC_JOB_FIXED + CODEC_NAMES_MAX + RESERVED_END +
                           RESERVED_BURIAL + SPACE_SLACK + SEGMENT_UNIT;

    return journal_round_up(asked > least ? asked : least, SEGMENT_UNIT);
}

bool space_is_there(struct journal *journal, const struct record *record)
{
    uint64_t extra;
    size_t size = space_record_size(journal, record, &extra);
    bool fits;

    if (journal->failure.given_up || !space_has_memory(journal)) {
        return false;
    }
    fits = space_fits_current(journal, size, extra + SPACE_SLACK);
    if (journal->maintenance.full) {
        return record->kind != RECORD_SUBMIT && record->kind != RECORD_MEMO && fits;
    }
    return fits || journal->storage->ops->can_take(journal, size, extra);
}

bool space_overflows(const struct journal *journal)
{
    return journal->segments.current->end + journal->ledger.reserved >
           journal->segments.current->size;
}

bool space_to_copy(const struct journal *journal, size_t size)
{
    return space_fits_current(journal, size, SPACE_SLACK / 2) ||
           journal->storage->ops->next_fits(journal, size, SPACE_SLACK / 2);
}

bool space_to_drop(const struct journal *journal)
{
    return space_fits_current(journal, CODEC_NUMBER_SIZE, 0) ||
           journal->storage->ops->next_fits(journal, CODEC_NUMBER_SIZE, 0);
}

void space_choose(struct journal *journal, size_t size, uint64_t extra)
{
    // Space that was allocated for reservations which no longer exist does not extend a segment: it
    // could not be compacted while it is written to.
    if (journal->segments.current->end + size > journal->settings.segment_size ||
        !space_fits_current(journal, size, extra + SPACE_SLACK)) {
        journal->storage->ops->move_on(journal, size, extra);
    }
}
