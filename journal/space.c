/* SPDX-License-Identifier: MIT */
#include "journal/space.h"

#include "journal/codec_memo.h"

// So many chunks are set aside: for what the longest turn can append and nobody can refuse, several
// times over.
enum { CHUNKS_SET_ASIDE = 32 };

bool space_has_memory(struct journal *journal)
{
    return chunk_pool_fill(&journal->batches.pool, CHUNKS_SET_ASIDE) &&
           segment_make_room(journal->row.current) && row_make_room(&journal->row);
}

bool space_memory_is_low(const struct journal *journal)
{
    return journal->batches.pool.count < CHUNKS_SET_ASIDE / 2;
}

static size_t size_of(const struct journal *journal, const struct record *record, uint64_t *extra)
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
    size_t size = size_of(journal, record, &extra);
    bool fits;

    if (journal->failure.given_up || !space_has_memory(journal)) {
        return false;
    }
    fits = space_fits_current(journal, size, extra + SPACE_SLACK);
    if (journal->upkeep.full) {
        return record->kind != RECORD_SUBMIT && record->kind != RECORD_MEMO && fits;
    }
    return fits || journal->storage->ops->can_take(journal, size, extra);
}

bool space_overflows(const struct journal *journal)
{
    return journal->row.current->end + journal->ledger.reserved > journal->row.current->size;
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
    // What was set aside for what is reserved no more does not make a segment longer: it could not
    // be compacted while it is written to.
    if (journal->row.current->end + size > journal->settings.segment_size ||
        !space_fits_current(journal, size, extra + SPACE_SLACK)) {
        journal->storage->ops->move_on(journal, size, extra);
    }
}
