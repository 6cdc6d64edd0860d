/* SPDX-License-Identifier: MIT */
#include "tests/journal/journal_check.h"

#include "journal/space.h"

static void check_positions(const struct journal *journal)
{
    const struct positions *position = &journal->position;
    uint64_t gathering = journal->batches.gathering.position;
    uint64_t writing = journal->batches.writing.position;

    ENSURE(position->synced <= position->reached && position->reached < gathering);
    if (batch_empty(&journal->batches.writing)) {
        ENSURE(gathering == position->reached + 1);
    } else {
        // A position that was reached may have to be written again.
        ENSURE(writing == position->reached || writing == position->reached + 1);
        ENSURE(gathering == writing + 1);
    }
}

static void check_ids(const struct ids *ids)
{
    ENSURE(ids->end <= ids->written && ids->written <= ids->asked);
    ENSURE(ids->ahead >= IDS_BLOCK && ids->ahead <= IDS_AHEAD_MOST);
}

static void check_failure(const struct failure *failure)
{
    ENSURE((failure->failing_at == NSEC_NEVER) == (failure->count == 0));
}

static void check_runs(const struct segment *segment)
{
    uint64_t looks = 0;

    ENSURE(segment->run_count <= segment->run_capacity);
    for (size_t i = 0; i < segment->run_count; i++) {
        const struct id_run *run = &segment->runs[i];

        ENSURE(run->first <= run->last);
        looks += run->last - run->first + 1;
    }
    ENSURE(looks == segment->looks);
}

static void check_segment(const struct segment *segment)
{
    check_runs(segment);
    if (segment->state == SEGMENT_PUBLISHED) {
        ENSURE(segment->synced <= segment->written && segment->written <= segment->end);
    }
    ENSURE(!segment->unsure || segment->state == SEGMENT_FAILED);
    ENSURE(segment->state >= SEGMENT_BEGUN && segment->state <= SEGMENT_FAILED);
}

static void check_segments(const struct segments *all)
{
    const struct segment_list *segments = &all->list;
    uint64_t used_before = 0;

    for (size_t i = 0; i < segments->count; i++) {
        const struct segment *segment = segments->items[i];

        check_segment(segment);
        ENSURE(segment->number == segments->first + i);
        // Segments that are not published follow those that are.
        ENSURE(i == 0 || segment_is_published(segments->items[i - 1]) ||
               !segment_is_published(segment));
        used_before += i + 1 < segments->count ? segment->end : 0;
    }
    if (all->current) {
        ENSURE(all->current == segments->items[segments->count - 1]);
        ENSURE(all->used_before == used_before);
    }
    if (all->removing) {
        ENSURE(all->removing->state == SEGMENT_REMOVING);
        ENSURE(all->removing->number < segments->first && all->removing->jobs == 0);
    }
}

static void check_batch(const struct log_batch *batch)
{
    const struct chunk *tail = NULL;
    size_t bytes = 0;

    for (const struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        ENSURE(chunk->used > 0 && chunk->used <= CHUNK_BYTES);
        bytes += chunk_size(chunk);
        tail = chunk;
    }
    ENSURE(batch->tail == tail && batch->bytes == bytes);
}

// Chunks of one segment are contiguous, and before its end.
static void check_places(const struct log_batch *batch)
{
    for (const struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        const struct chunk *next = chunk->next;
        uint64_t end = chunk->offset + chunk_size(chunk);

        ENSURE(end <= chunk->segment->end);
        ENSURE(!next || next->segment != chunk->segment || next->offset == end);
    }
}

static void check_batches(const struct journal *journal)
{
    const struct log_batches *batches = &journal->batches;
    const struct chunk *last = batches->gathering.tail;
    size_t count = 0;

    check_batch(&batches->gathering);
    check_batch(&batches->writing);
    check_batch(&batches->unsynced);
    check_places(&batches->gathering);
    check_places(&batches->writing);
    if (last && last->segment == journal->segments.current) {
        ENSURE(last->offset + chunk_size(last) == journal->segments.current->end);
    }
    for (const struct chunk *chunk = batches->pool.free; chunk; chunk = chunk->next) {
        count++;
    }
    ENSURE(count == batches->pool.count);
}

static void check_compaction(const struct journal *journal)
{
    const struct compaction *at = &journal->compaction;

    ENSURE(!at->blocked || at->runs);
    if (at->runs) {
        // One segment leaves the list at a time, and never the current one.
        ENSURE(!journal->segments.removing && journal->segments.list.count > 1);
        ENSURE(at->run <= journal->segments.list.items[at->place]->run_count);
    }
    if (journal->segments.removing) {
        ENSURE(journal->segments.removable_at <= journal->batches.gathering.position);
    }
}

void journal_check(const struct journal *journal)
{
    check_positions(journal);
    check_ids(&journal->ids);
    check_failure(&journal->failure);
    check_segments(&journal->segments);
    check_batches(journal);
    check_compaction(journal);
}

static bool has_id(const struct segment *segment, uint64_t id)
{
    for (size_t i = segment->run_count; i-- > 0;) {
        if (segment->runs[i].first <= id && id <= segment->runs[i].last) {
            return true;
        }
    }
    return false;
}

static void check_memos(const struct journal *journal)
{
    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        const struct memo *memo;
        uint64_t cursor = 0;

        while ((memo = broker_memo_next(journal->broker, (enum memo_kind)kind, &cursor))) {
            ENSURE(memo_mark(memo) == 0 ||
                   segment_list_marked(&journal->segments.list, memo_mark(memo)));
        }
    }
}

void journal_check_ledger(const struct journal *journal)
{
    struct job_walk walk = {0};
    struct ledger counted = {0};
    const struct job *job;
    uint64_t jobs = 0;
    enum status status;

    do {
        status = broker_job_next(journal->broker, &walk, &job);
        if (status == STATUS_OK && job_is_durable(job)) {
            const struct segment *segment =
                segment_list_marked(&journal->segments.list, job_mark(job));

            ENSURE(segment && has_id(segment, job_id(job)));
            counted.live += ledger_size_of(journal->broker, job);
            counted.reserved += ledger_reserved_for(job);
            jobs++;
        }
    } while (status != STATUS_EMPTY);
    ENSURE(counted.live == journal->ledger.live && counted.reserved == journal->ledger.reserved);
    for (size_t i = 0; i < journal->segments.list.count; i++) {
        jobs -= journal->segments.list.items[i]->jobs;
    }
    ENSURE(jobs == 0);
    check_memos(journal);
}
