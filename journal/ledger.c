/* SPDX-License-Identifier: MIT */

// The books: which segment has a job's full record, what live jobs take, and what they are
// promised.

#include "journal/journal_private.h"

static uint64_t reserved_for(const struct job *job)
{
    return job_is_buried(job) ? RESERVED_END : RESERVED_END + RESERVED_BURIAL;
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

void ledger_add(struct journal *journal, struct segment *segment, const struct job *job,
                size_t size)
{
    enter(segment, job);
    journal->live += size;
    journal->reserved += reserved_for(job);
}

void ledger_remove(struct journal *journal, const struct job *job)
{
    leave(journal, job);
    journal->live -= codec_job_size(job_variable_len(journal->broker, job));
    journal->reserved -= reserved_for(job);
}

void ledger_move(struct journal *journal, struct segment *segment, const struct job *job)
{
    leave(journal, job);
    enter(segment, job);
}

void ledger_buried(struct journal *journal)
{
    journal->reserved -= RESERVED_BURIAL;
}

void ledger_unburied(struct journal *journal)
{
    journal->reserved += RESERVED_BURIAL;
}

void ledger_pause(struct journal *journal, struct segment *segment, const struct queue *queue)
{
    queue_set_mark(journal->broker, queue, (uint32_t)segment->number);
}

uint64_t ledger_paused(const struct journal *journal)
{
    uint64_t count;
    uint64_t names;

    broker_pauses(journal->broker, &count, &names);
    return count * (codec_pause_size(0) + 7) + names;
}

void ledger_count_row(struct journal *journal)
{
    journal->used_before = 0;
    for (size_t i = 0; i + 1 < journal->segments.count; i++) {
        journal->used_before += journal->segments.list[i]->end;
    }
}

uint64_t ledger_used(const struct journal *journal)
{
    return journal->used_before + journal->current->end;
}

uint64_t ledger_on_disk(const struct journal *journal)
{
    uint64_t bytes = journal->spare ? journal->spare->size : 0;

    bytes += journal->making ? journal->making->size : 0;
    bytes += journal->removing ? journal->removing->size : 0;
    bytes += journal->shedding ? journal->shedding->size : 0;
    for (size_t i = 0; i < journal->segments.count; i++) {
        bytes += journal->segments.list[i]->size;
    }
    return bytes;
}
