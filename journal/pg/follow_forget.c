/* SPDX-License-Identifier: MIT */

// Of units that were removed while they were followed.

#include "journal/pg/follow.h"

#include "core/restore.h"

static void end_jobs(struct follow *follow, const struct segment *segment)
{
    struct journal *journal = follow->journal;

    for (size_t i = 0; segment->jobs > 0 && i < segment->run_count; i++) {
        const struct id_run *run = &segment->runs[i];

        for (uint64_t id = run->first; id <= run->last && segment->jobs > 0; id++) {
            const struct job *job = broker_find(journal->broker, id);

            if (job && job_mark(job) == (uint32_t)segment->number) {
                ledger_remove(&journal->ledger, &journal->row.segments, job,
                              ledger_size_of(journal->broker, job));
                ENSURE(broker_restore_end(journal->broker, id) == STATUS_OK);
            }
        }
    }
}

static void end_pauses(struct follow *follow, uint64_t number)
{
    struct broker *broker = follow->journal->broker;
    const struct queue *queue;

    while ((queue = broker_pause_oldest(broker)) && queue_mark(queue) == (uint32_t)number &&
           broker_restore_pause(broker, queue_name(queue), 0, 0, &queue) == STATUS_OK) {
    }
}

static void end_memos(struct follow *follow, uint64_t number)
{
    struct broker *broker = follow->journal->broker;
    const struct memo *memo;

    while ((memo = broker_memo_oldest(broker)) && memo_mark(memo) == (uint32_t)number &&
           broker_restore_forget(broker, memo->kind, memo->key) == STATUS_OK) {
    }
}

void follow_forget_below(struct follow *follow, uint64_t oldest)
{
    struct segments *segments = &follow->journal->row.segments;

    while (segments->count > 0 && segments->first < oldest) {
        struct segment *segment = segments->list[0];

        end_jobs(follow, segment);
        end_pauses(follow, segment->number);
        end_memos(follow, segment->number);
        (void)segments_shift(segments);
        if (segment == follow->unit) {
            follow->unit = NULL;
            follow->follows_on = false;
        }
        segment_free(segment);
    }
}
