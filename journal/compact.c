/* SPDX-License-Identifier: MIT */

// Compaction empties the oldest segment, a little in each turn. Each live job whose full record is
// in it is copied, in its present state, to the current segment, and so are memos and the pauses of
// queues. Then the segment leaves the list, and is removed when the copies are synced.

#include "core/base/log.h"
#include "core/base/macros.h"
#include "journal/append.h"
#include "journal/journal_private.h"
#include "journal/space.h"

// What one turn may do: a minimum, so that it goes on when nothing is appended, and in proportion
// so much that it passes over three times as many bytes of the oldest segment as are appended. In a
// log twice as large as its live content, all of it has to be passed over once, and no more than
// the live content is appended meanwhile.
enum { LOOK_LEAST = 512, LOOK_MOST = 131072, PACE = 3, PAUSES_A_TURN = 256 };
#define COPY_LEAST ((uint64_t)64 * 1024)
#define COPY_MOST ((uint64_t)1024 * 1024)
// A large number of small segments, which restarts leave, is reduced in any case.
enum { SEGMENTS_MOST = 16 };

struct compact_budget {
    uint64_t looks;
    uint64_t bytes;
};

bool compact_is_behind(const struct journal *journal)
{
    uint64_t live;

    if (journal->segments.list.count == 1 && !journal->segments.removing) {
        return false;
    }
    live = journal->ledger.live + ledger_other_bytes(journal->broker);
    return segments_used(&journal->segments) > 2 * live + live / 2 + journal->settings.segment_size;
}

static struct segment *compact_source(const struct journal *journal)
{
    return journal->segments.list.items[journal->compaction.place];
}

// Segments of lower numbers are emptied before any of them leaves the list.
static uint64_t compact_end(const struct journal *journal)
{
    const struct segments *segments = &journal->segments;

    return journal->storage->ops->rewrites && segments_need_rewrite(segments)
               ? segments->rewrite_from
               : segments->list.first + 1;
}

static struct compact_budget compact_budget(const struct journal *journal)
{
    const struct segment *segment = compact_source(journal);
    uint64_t due = PACE * journal->compaction.appended;
    struct compact_budget budget = {LOOK_LEAST + due * segment->looks / (segment->end + 1),
                                    COPY_LEAST + due};

    budget.looks = budget.looks < LOOK_MOST ? budget.looks : LOOK_MOST;
    // Turns that append so much that compaction falls behind are long anyway.
    if (budget.bytes > COPY_MOST && !compact_is_behind(journal)) {
        budget.bytes = COPY_MOST;
    }
    return budget;
}

static bool compact_has_too_many(const struct journal *journal, uint64_t used)
{
    size_t most = journal->storage->ops->segments_most;
    size_t count = journal->segments.list.count;

    return (most > 0 && count > most) ||
           count > SEGMENTS_MOST + 4 * used / journal->settings.segment_size;
}

// Whether the segments have grown out of proportion: early enough that there is still time and
// allocated space. On a full disk it begins sooner.
static bool compact_is_wanted(const struct journal *journal)
{
    uint64_t live = journal->ledger.live + ledger_other_bytes(journal->broker);
    uint64_t used = segments_used(&journal->segments);

    return used > 2 * live + journal->settings.segment_size / 2 ||
           compact_has_too_many(journal, used) ||
           (journal->maintenance.full && used > live + live / 8 + journal->segments.current->end);
}

static bool compact_may_go_on(struct journal *journal, bool space)
{
    bool may = space && space_has_memory(journal) &&
               journal->batches.gathering.bytes < journal->settings.max_pending / 4;

    journal->compaction.blocked = !may;
    return may;
}

// A job may be larger than the spare, which is then enlarged.
static bool compact_may_copy(struct journal *journal, size_t size)
{
    bool space = space_to_copy(journal, size);

    journal->compaction.wants = space ? 0 : size;
    return compact_may_go_on(journal, space);
}

// False if there is no space for it at present.
static bool compact_copy_job(struct journal *journal, const struct job *job,
                             struct compact_budget *budget)
{
    size_t size = (size_t)ledger_size_of(journal->broker, job);

    if (!compact_may_copy(journal, size)) {
        return false;
    }
    (void)append_job(journal, job, 0);
    ledger_move(&journal->segments.list, journal->segments.current, job);
    journal->counters.migrated++;
    budget->bytes -= size < budget->bytes ? size : budget->bytes;
    return true;
}

// False if the turn's budget is spent or there is no space.
static bool compact_copy_jobs(struct journal *journal, struct compact_budget *budget)
{
    struct compaction *at = &journal->compaction;
    const struct segment *from = compact_source(journal);

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
                !compact_copy_job(journal, job, budget)) {
                return false;
            }
        }
    }
    ENSURE(from->jobs == 0);
    return true;
}

// The same for all segments to be emptied.
static bool compact_copy_all_jobs(struct journal *journal, struct compact_budget *budget)
{
    struct compaction *at = &journal->compaction;

    while (compact_copy_jobs(journal, budget)) {
        if (compact_source(journal)->number + 1 >= compact_end(journal)) {
            return true;
        }
        at->place++;
        at->run = 0;
        at->id = 0;
    }
    return false;
}

static bool compact_is_in_source(const struct journal *journal, uint32_t mark)
{
    const struct segment *segment = segment_list_marked(&journal->segments.list, mark);

    return segment && segment->number < compact_end(journal);
}

// The pauses recorded longest ago come first. False if the turn's budget is spent or there is no
// space.
static bool compact_copy_pauses(struct journal *journal)
{
    const struct queue *queue;

    for (unsigned i = 0; (queue = broker_pause_oldest(journal->broker)) &&
                         compact_is_in_source(journal, queue_mark(queue));
         i++) {
        size_t size = codec_pause_size(queue_name(queue).len);

        if (i == PAUSES_A_TURN || !compact_may_copy(journal, size)) {
            return false;
        }
        (void)append_pause(journal, queue);
    }
    return true;
}

// The same for memos, whose bytes count like those of jobs.
static bool compact_copy_memos(struct journal *journal, struct compact_budget *budget)
{
    const struct memo *memo;

    while ((memo = broker_memo_oldest(journal->broker)) &&
           compact_is_in_source(journal, memo_mark(memo))) {
        size_t size = codec_memo_size(memo->key.len, memo->value.len);

        if (budget->bytes == 0 || !compact_may_copy(journal, size)) {
            return false;
        }
        (void)append_memo(journal, memo);
        journal->counters.migrated++;
        budget->bytes -= size < budget->bytes ? size : budget->bytes;
    }
    return true;
}

// The emptied segments leave the list; the last of them stands for all that are to be removed.
static void compact_take_out(struct journal *journal)
{
    struct segments *segments = &journal->segments;
    uint64_t below = compact_end(journal);

    do {
        segment_free(segments->removing);
        segments->removing = segment_list_shift(&segments->list);
        segment_set_state(segments->removing, SEGMENT_REMOVING);
    } while (segments->list.first < below);
    segments_recount(segments);
    segments->removable_at = journal->batches.gathering.position;
}

// A record says that the segments are no longer needed, so that any other missing segment is
// noticed; they are removed once it is synced. A segment stays until its last bytes are safe, which
// is when it is closed: before that they may have to be written again, and a task may use it.
static void compact_finish(struct journal *journal)
{
    bool at_rest = !segment_is_open(journal->segments.list.items[0]);
    bool renewed = journal->storage->ops->rewrites && segments_need_rewrite(&journal->segments);

    if (!compact_may_go_on(journal, at_rest && space_to_drop(journal))) {
        return;
    }
    (void)append_number(journal, CODEC_DROPPED, compact_end(journal) - 1);
    compact_take_out(journal);
    journal->compaction = (struct compaction){0};
    if (renewed) {
        log_info("journal_renewed", log_number("segment", (int64_t)journal->segments.list.first),
                 log_string("note", "all live content has been rewritten"));
    }
}

// APART is worth 0.4 % of a durable put, by tests/budget.
static APART void compact_empty_oldest(struct journal *journal)
{
    struct compact_budget budget = compact_budget(journal);

    if (compact_copy_all_jobs(journal, &budget) && compact_copy_pauses(journal) &&
        compact_copy_memos(journal, &budget)) {
        compact_finish(journal);
    }
}

void compact_step(struct journal *journal)
{
    struct compaction *at = &journal->compaction;

    at->runs =
        journal->segments.list.count > 1 && !journal->segments.removing &&
        journal->failure.failing_at == NSEC_NEVER &&
        (at->runs || segments_need_rewrite(&journal->segments) || compact_is_wanted(journal));
    at->blocked = false;
    at->wants = 0;
    if (at->runs) {
        compact_empty_oldest(journal);
    }
    journal->compaction.appended = 0;
}

bool compact_holds_back(const struct journal *journal)
{
    bool can = !journal->maintenance.full && journal->compaction.wants == 0 &&
               journal->maintenance.error == 0 && journal->failure.failing_at == NSEC_NEVER;

    return can && compact_is_behind(journal);
}

bool compact_has_work(const struct journal *journal)
{
    return journal->compaction.runs && !journal->compaction.blocked;
}
