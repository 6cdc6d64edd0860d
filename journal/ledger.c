/* SPDX-License-Identifier: MIT */
#include "journal/ledger.h"

#include "journal/codec_memo.h"

uint64_t ledger_size_of(const struct broker *broker, const struct job *job)
{
    return codec_job_size(job_variable_len(broker, job));
}

uint64_t ledger_reserved_for(const struct job *job)
{
    return job_is_buried(job) ? RESERVED_END : RESERVED_END + RESERVED_BURIAL;
}

static void enter(struct segment *segment, const struct job *job)
{
    job_set_mark(job, (uint32_t)segment->number);
    segment_note_id(segment, job_id(job));
    segment->jobs++;
}

static void leave(const struct segments *segments, const struct job *job)
{
    struct segment *segment = segments_marked(segments, job_mark(job));

    ENSURE(segment && segment->jobs > 0);
    segment->jobs--;
}

void ledger_add(struct ledger *ledger, struct segment *segment, const struct job *job, size_t size)
{
    enter(segment, job);
    ledger->live += size;
    ledger->reserved += ledger_reserved_for(job);
}

void ledger_remove(struct ledger *ledger, const struct segments *segments, const struct job *job,
                   uint64_t size)
{
    leave(segments, job);
    ledger->live -= size;
    ledger->reserved -= ledger_reserved_for(job);
}

void ledger_move(const struct segments *segments, struct segment *to, const struct job *job)
{
    leave(segments, job);
    enter(to, job);
}

uint64_t ledger_beside(const struct broker *broker)
{
    uint64_t pauses, names, memos, bytes;

    broker_pauses(broker, &pauses, &names);
    broker_memos(broker, &memos, &bytes);
    return pauses * (codec_pause_size(0) + 7) + names + memos * (codec_memo_size(0, 0) + 7) + bytes;
}
