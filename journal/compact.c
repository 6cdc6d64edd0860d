/* SPDX-License-Identifier: MIT */

// Compaction: the oldest segment is emptied, a little each turn. Each live job whose full record it
// has is written anew, as it stands now, to the current segment, and so are pauses that last. When
// that is done the segment leaves the row, and when what was written anew is synced, its file goes.

#include "journal/journal_private.h"

// What one turn may do: so much, and more where the core appended much, so that compaction keeps
// pace with any load; but no more than what takes a few milliseconds.
enum { LOOK_LEAST = 512, LOOK_MOST = 2048, LOOKS_A_RECORD = 4, QUEUES_A_TURN = 256 };
// The most where so much is appended that it falls behind: such turns are long by themselves.
enum { LOOK_URGENT = 8192 };
#define COPY_LEAST ((uint64_t)64 * 1024)
#define COPY_MOST ((uint64_t)1024 * 1024)
// A row of very many small segments, as restarts leave, is shortened whatever it takes.
enum { SEGMENTS_MOST = 16 };

struct budget {
    uint64_t looks;
    uint64_t bytes;
};

static bool is_urgent(const struct journal *journal)
{
    uint64_t live = journal->live + journal->paused;

    return ledger_used(journal) > 2 * live + live / 2 + journal->settings.segment_size;
}

static struct budget budget_of(const struct journal *journal)
{
    struct budget budget = {LOOK_LEAST + LOOKS_A_RECORD * journal->records,
                            COPY_LEAST + 2 * journal->appended};
    uint64_t most = is_urgent(journal) ? LOOK_URGENT : LOOK_MOST;

    budget.looks = budget.looks < most ? budget.looks : most;
    budget.bytes = budget.bytes < COPY_MOST ? budget.bytes : COPY_MOST;
    return budget;
}

static bool too_many(const struct journal *journal, uint64_t used)
{
    return journal->segments.count > SEGMENTS_MOST + 4 * used / journal->settings.segment_size;
}

// Whether the files have grown out of proportion: by so much less than they may that there is time
// for it, and room for what is set aside. A full disk is no place to be generous.
static bool is_wanted(const struct journal *journal)
{
    uint64_t live = journal->live + journal->paused;
    uint64_t used = ledger_used(journal);

    return used > 2 * live + journal->settings.segment_size / 2 || too_many(journal, used) ||
           (journal->full && used > live + live / 8 + journal->current->end);
}

static bool may_go_on(struct journal *journal, bool room)
{
    bool may = room && room_has_memory(journal) &&
               journal->gathering.bytes < journal->settings.max_pending / 4;

    journal->compaction.blocked = !may;
    return may;
}

// A job may be larger than the spare: that is made larger then.
static bool may_copy(struct journal *journal, size_t size)
{
    bool room = room_to_copy(journal, size);

    journal->compaction.wants = room ? 0 : size;
    return may_go_on(journal, room);
}

// False where there is no room for it at present.
static bool copy_job(struct journal *journal, const struct job *job, struct budget *budget)
{
    size_t size = codec_job_size(job_variable_len(journal->broker, job));

    if (!may_copy(journal, size)) {
        return false;
    }
    (void)append_job(journal, job, 0);
    ledger_move(journal, journal->current, job);
    journal->total_migrated++;
    budget->bytes -= size < budget->bytes ? size : budget->bytes;
    return true;
}

// False where the turn's budget is spent, or there is no room.
static bool copy_jobs(struct journal *journal, struct budget *budget)
{
    struct compaction *at = &journal->compaction;
    const struct segment *oldest = journal->segments.list[0];

    for (; oldest->jobs > 0 && at->run < oldest->run_count; at->run++, at->id = 0) {
        const struct id_run *run = &oldest->runs[at->run];

        for (at->id = at->id ? at->id : run->first; at->id <= run->last; at->id++) {
            const struct job *job;

            if (budget->looks == 0 || budget->bytes == 0) {
                return false;
            }
            budget->looks--;
            job = broker_find(journal->broker, at->id);
            if (job && job_is_durable(job) && job_mark(job) == (uint32_t)oldest->number &&
                !copy_job(journal, job, budget)) {
                return false;
            }
        }
    }
    ENSURE(oldest->jobs == 0);
    return true;
}

static bool copy_pause(struct journal *journal, const struct queue *queue)
{
    size_t size = codec_pause_size(queue_name(queue).len);
    nsec_t pause_for;
    nsec_t until_at;

    if (!queue_describe_pause(journal->broker, queue, &pause_for, &until_at)) {
        return true;
    }
    if (queue_mark(queue) == (uint32_t)journal->segments.first) {
        if (!may_copy(journal, size)) {
            return false;
        }
        (void)append_pause(journal, queue);
    }
    journal->compaction.paused += size;
    return true;
}

// All queues are looked at; what pauses take in all is known anew then.
static bool copy_pauses(struct journal *journal)
{
    struct compaction *at = &journal->compaction;

    for (unsigned i = 0; journal->pauses; i++) {
        uint32_t next = at->queue;
        const struct queue *queue = broker_queue_next(journal->broker, &next);

        if (!queue) {
            journal->paused = at->paused;
            return true;
        }
        if (i == QUEUES_A_TURN || !copy_pause(journal, queue)) {
            return false;
        }
        at->queue = next;
    }
    return true;
}

// The record says that the segment is not needed any more: a segment that is missing for any other
// reason is noticed. Its file goes as soon as that is synced. Until its last bytes are safe (it is
// closed then), the segment stays: they may have to be written anew, to another one, and the task
// that is at work may have to do with it.
static void finish(struct journal *journal)
{
    bool at_rest = journal->segments.list[0]->file < 0;

    if (!may_go_on(journal, at_rest && room_to_drop(journal))) {
        return;
    }
    (void)append_number(journal, CODEC_DROPPED, journal->segments.first);
    journal->removing = segments_shift(&journal->segments);
    ledger_count_row(journal);
    journal->removable_at = journal->gathering.position;
    journal->compaction = (struct compaction){0};
}

static bool is_unsound(const struct journal *journal)
{
    return journal->segments.first < journal->unsound_below;
}

static void empty_oldest(struct journal *journal)
{
    struct compaction *at = &journal->compaction;
    struct budget budget = budget_of(journal);

    if (at->pauses || copy_jobs(journal, &budget)) {
        at->pauses = true;
        if (copy_pauses(journal)) {
            finish(journal);
        }
    }
}

void compact_step(struct journal *journal)
{
    struct compaction *at = &journal->compaction;

    at->runs = journal->segments.count > 1 && !journal->removing &&
               journal->failing_at == NSEC_NEVER &&
               (at->runs || is_unsound(journal) || is_wanted(journal));
    at->blocked = false;
    at->wants = 0;
    if (at->runs) {
        empty_oldest(journal);
    }
    journal->records = 0;
    journal->appended = 0;
}

bool compact_has_work(const struct journal *journal)
{
    return journal->compaction.runs && !journal->compaction.blocked;
}
