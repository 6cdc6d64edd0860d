/* SPDX-License-Identifier: MIT */

// The books: which segment has a job's full record, what live jobs take, and what they are
// promised.

#include "journal/journal_private.h"

static uint64_t promise_of(const struct job *job)
{
    return job_is_buried(job) ? PROMISE_END : PROMISE_END + PROMISE_BURIAL;
}

static uint64_t size_of(const struct journal *journal, const struct job *job)
{
    return codec_job_size(job_variable_len(journal->broker, job));
}

static void enter(struct segment *segment, const struct job *job)
{
    job_set_mark(job, (uint32_t)segment->number);
    segment_note_id(segment, job_id(job));
    segment->jobs++;
}

static void leave(struct journal *journal, const struct job *job)
{
    struct segment *segment = segments_marked(&journal->segments, job_mark(job));

    ENSURE(segment && segment->jobs > 0);
    segment->jobs--;
}

void ledger_add(struct journal *journal, struct segment *segment, const struct job *job)
{
    enter(segment, job);
    journal->live += size_of(journal, job);
    journal->promised += promise_of(job);
}

void ledger_remove(struct journal *journal, const struct job *job)
{
    leave(journal, job);
    journal->live -= size_of(journal, job);
    journal->promised -= promise_of(job);
}

void ledger_move(struct journal *journal, struct segment *segment, const struct job *job)
{
    leave(journal, job);
    enter(segment, job);
}

void ledger_buried(struct journal *journal)
{
    journal->promised -= PROMISE_BURIAL;
}

void ledger_unburied(struct journal *journal)
{
    journal->promised += PROMISE_BURIAL;
}

void ledger_pause(struct journal *journal, struct segment *segment, const struct queue *queue)
{
    queue_set_mark(queue, (uint32_t)segment->number);
    journal->pauses = true;
}

uint64_t ledger_used(const struct journal *journal)
{
    uint64_t used = 0;

    for (size_t i = 0; i < journal->segments.count; i++) {
        used += journal->segments.list[i]->end;
    }
    return used;
}

uint64_t ledger_on_disk(const struct journal *journal)
{
    uint64_t bytes = journal->spare ? journal->spare->size : 0;

    bytes += journal->removing ? journal->removing->size : 0;
    for (size_t i = 0; i < journal->segments.count; i++) {
        bytes += journal->segments.list[i]->size;
    }
    return bytes;
}
