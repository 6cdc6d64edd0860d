/* SPDX-License-Identifier: MIT */

// Compaction: the oldest segment is emptied, a little each turn. Each live job whose full record it
// has is written anew, as it stands now, to the current segment, and so are pauses that last and
// memos. When that is done the segment leaves the row, and when what was written anew is synced,
// its file goes.

#include "journal/compact.h"

#include "core/base/log.h"
#include "core/base/macros.h"
#include "journal/append.h"
#include "journal/codec_memo.h"
#include "journal/space.h"

// What one turn may do: a little, so that it goes on when nothing is appended, and so much more
// that of the oldest segment three times as many bytes are gone through as are appended. To free
// what is not needed in a row that is twice as large as what lives, all of it has to be gone
// through once; no more than what lives is appended meanwhile.
enum { LOOK_LEAST = 512, LOOK_MOST = 131072, PACE = 3, PAUSES_A_TURN = 256 };
#define COPY_LEAST ((uint64_t)64 * 1024)
#define COPY_MOST ((uint64_t)1024 * 1024)
// A row of very many small segments, as restarts leave, is shortened whatever it takes.
enum { SEGMENTS_MOST = 16 };

struct budget {
    uint64_t looks;
    uint64_t bytes;
};

bool compact_is_behind(const struct journal *journal)
{
    uint64_t live;

    if (journal->row.segments.count == 1 && !journal->row.removing) {
        return false;
    }
    live = journal->ledger.live + ledger_beside(journal->broker);
    return row_used(&journal->row) > 2 * live + live / 2 + journal->settings.segment_size;
}

static struct segment *emptied(const struct journal *journal)
{
    return journal->row.segments.list[journal->compaction.place];
}

// Segments of lower numbers are emptied before any of them is taken out.
static uint64_t emptied_below(const struct journal *journal)
{
    const struct row *row = &journal->row;

    return journal->storage->ops->renews && row_is_unsound(row) ? row->unsound_below
                                                                : row->segments.first + 1;
}

static struct budget budget_of(const struct journal *journal)
{
    const struct segment *segment = emptied(journal);
    uint64_t due = PACE * journal->compaction.appended;
    struct budget budget = {LOOK_LEAST + due * segment->looks / (segment->end + 1),
                            COPY_LEAST + due};

    budget.looks = budget.looks < LOOK_MOST ? budget.looks : LOOK_MOST;
    // Turns in which so much is appended that it falls behind are long by themselves.
    if (budget.bytes > COPY_MOST && !compact_is_behind(journal)) {
        budget.bytes = COPY_MOST;
    }
    return budget;
}

static bool too_many(const struct journal *journal, uint64_t used)
{
    size_t most = journal->storage->ops->segments_most;
    size_t count = journal->row.segments.count;

    return (most > 0 && count > most) ||
           count > SEGMENTS_MOST + 4 * used / journal->settings.segment_size;
}

// Whether the files have grown out of proportion: by so much less than they may that there is time
// for it, and space for what is set aside. A full disk is no place to be generous.
static bool is_wanted(const struct journal *journal)
{
    uint64_t live = journal->ledger.live + ledger_beside(journal->broker);
    uint64_t used = row_used(&journal->row);

    return used > 2 * live + journal->settings.segment_size / 2 || too_many(journal, used) ||
           (journal->upkeep.full && used > live + live / 8 + journal->row.current->end);
}

static bool may_go_on(struct journal *journal, bool space)
{
    bool may = space && space_has_memory(journal) &&
               journal->batches.gathering.bytes < journal->settings.max_pending / 4;

    journal->compaction.blocked = !may;
    return may;
}

// A job may be larger than the spare: that is made larger then.
static bool may_copy(struct journal *journal, size_t size)
{
    bool space = space_to_copy(journal, size);

    journal->compaction.wants = space ? 0 : size;
    return may_go_on(journal, space);
}

// False where there is no space for it at present.
static bool copy_job(struct journal *journal, const struct job *job, struct budget *budget)
{
    size_t size = (size_t)ledger_size_of(journal->broker, job);

    if (!may_copy(journal, size)) {
        return false;
    }
    (void)append_job(journal, job, 0);
    ledger_move(&journal->row.segments, journal->row.current, job);
    journal->counters.migrated++;
    budget->bytes -= size < budget->bytes ? size : budget->bytes;
    return true;
}

// False where the turn's budget is spent, or there is no space.
static bool copy_jobs(struct journal *journal, struct budget *budget)
{
    struct compaction *at = &journal->compaction;
    const struct segment *from = emptied(journal);

    for (; from->jobs > 0 && at->run < from->run_count; at->run++, at->id = 0) {
        const struct id_run *run = &from->runs[at->run];

        for (at->id = at->id ? at->id : run->first; at->id <= run->last; at->id++) {
            const struct job *job;

            if (budget->looks == 0 || budget->bytes == 0) {
                return false;
            }
            budget->looks--;
            job = broker_find(journal->broker, at->id);
            if (job && job_is_durable(job) && job_mark(job) == (uint32_t)from->number &&
                !copy_job(journal, job, budget)) {
                return false;
            }
        }
    }
    ENSURE(from->jobs == 0);
    return true;
}

// Of all segments that are to be emptied. The same.
static bool copy_all_jobs(struct journal *journal, struct budget *budget)
{
    struct compaction *at = &journal->compaction;

    while (copy_jobs(journal, budget)) {
        if (emptied(journal)->number + 1 >= emptied_below(journal)) {
            return true;
        }
        at->place++;
        at->run = 0;
        at->id = 0;
    }
    return false;
}

static bool stands_in_emptied(const struct journal *journal, uint32_t mark)
{
    const struct segment *segment = segments_marked(&journal->row.segments, mark);

    return segment && segment->number < emptied_below(journal);
}

// Those whose record the segments have are the ones that were recorded longest ago. False where the
// turn's budget is spent, or there is no space.
static bool copy_pauses(struct journal *journal)
{
    const struct queue *queue;

    for (unsigned i = 0; (queue = broker_pause_oldest(journal->broker)) &&
                         stands_in_emptied(journal, queue_mark(queue));
         i++) {
        size_t size = codec_pause_size(queue_name(queue).len);

        if (i == PAUSES_A_TURN || !may_copy(journal, size)) {
            return false;
        }
        (void)append_pause(journal, queue);
    }
    return true;
}

// The same for memos, whose bytes count like those of jobs.
static bool copy_memos(struct journal *journal, struct budget *budget)
{
    const struct memo *memo;

    while ((memo = broker_memo_oldest(journal->broker)) &&
           stands_in_emptied(journal, memo_mark(memo))) {
        size_t size = codec_memo_size(memo->key.len, memo->value.len);

        if (budget->bytes == 0 || !may_copy(journal, size)) {
            return false;
        }
        (void)append_memo(journal, memo);
        journal->counters.migrated++;
        budget->bytes -= size < budget->bytes ? size : budget->bytes;
    }
    return true;
}

// Those that are emptied leave the row; the last of them says what is to go.
static void take_out(struct journal *journal)
{
    struct row *row = &journal->row;
    uint64_t below = emptied_below(journal);

    do {
        segment_free(row->removing);
        row->removing = segments_shift(&row->segments);
    } while (row->segments.first < below);
    row_count(row);
    row->removable_at = journal->batches.gathering.position;
}

// The record says that the segment is not needed any more: a segment that is missing for any other
// reason is noticed. Its file goes as soon as that is synced. Until its last bytes are safe (it is
// closed then), the segment stays: they may have to be written anew, to another one, and the task
// that is at work may have to do with it.
static void finish(struct journal *journal)
{
    bool at_rest = !segment_is_open(journal->row.segments.list[0]);
    bool renewed = journal->storage->ops->renews && row_is_unsound(&journal->row);

    if (!may_go_on(journal, at_rest && space_to_drop(journal))) {
        return;
    }
    (void)append_number(journal, CODEC_DROPPED, emptied_below(journal) - 1);
    take_out(journal);
    journal->compaction = (struct compaction){0};
    if (renewed) {
        log_info("journal_renewed", log_number("segment", (int64_t)journal->row.segments.first),
                 log_string("note", "all that lives has been written anew"));
    }
}

// APART is worth 0.4 % of a durable put, by tests/budget.
static APART void empty_oldest(struct journal *journal)
{
    struct budget budget = budget_of(journal);

    if (copy_all_jobs(journal, &budget) && copy_pauses(journal) && copy_memos(journal, &budget)) {
        finish(journal);
    }
}

void compact_step(struct journal *journal)
{
    struct compaction *at = &journal->compaction;

    at->runs = journal->row.segments.count > 1 && !journal->row.removing &&
               journal->failure.failing_at == NSEC_NEVER &&
               (at->runs || row_is_unsound(&journal->row) || is_wanted(journal));
    at->blocked = false;
    at->wants = 0;
    if (at->runs) {
        empty_oldest(journal);
    }
    journal->compaction.appended = 0;
}

bool compact_holds_back(const struct journal *journal)
{
    bool can = !journal->upkeep.full && journal->compaction.wants == 0 &&
               journal->upkeep.error == 0 && journal->failure.failing_at == NSEC_NEVER;

    return can && compact_is_behind(journal);
}

bool compact_has_work(const struct journal *journal)
{
    return journal->compaction.runs && !journal->compaction.blocked;
}
