/* SPDX-License-Identifier: MIT */

// Of units that were removed while they were followed.

#include "journal/pg/follow.h"

#include "core/restore.h"

static bool end_jobs(struct follow *follow, const struct segment *segment)
{
    struct journal *journal = follow->journal;
    bool lived = segment->jobs > 0;

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
    return lived;
}

static bool end_pauses(struct follow *follow, uint64_t number)
{
    struct broker *broker = follow->journal->broker;
    const struct queue *queue;
    bool lived = false;

    while ((queue = broker_pause_oldest(broker)) && queue_mark(queue) == (uint32_t)number &&
           broker_restore_pause(broker, queue_name(queue), 0, 0, &queue) == STATUS_OK) {
        lived = true;
    }
    return lived;
}

static bool end_memos(struct follow *follow, uint64_t number)
{
    struct broker *broker = follow->journal->broker;
    const struct memo *memo;
    bool lived = false;

    while ((memo = broker_memo_oldest(broker)) && memo_mark(memo) == (uint32_t)number &&
           broker_restore_forget(broker, memo->kind, memo->key) == STATUS_OK) {
        lived = true;
    }
    return lived;
}

bool follow_forget_below(struct follow *follow, uint64_t oldest)
{
    struct segments *segments = &follow->journal->row.segments;
    bool lived = false;

    while (segments->count > 0 && segments->first < oldest) {
        struct segment *segment = segments->list[0];

        lived |= end_jobs(follow, segment);
        lived |= end_pauses(follow, segment->number);
        lived |= end_memos(follow, segment->number);
        (void)segments_shift(segments);
        if (segment == follow->unit) {
            follow->unit = NULL;
            follow->follows_on = false;
        }
        segment_free(segment);
    }
    return lived;
}

void follow_forget_removed(struct follow *follow)
{
    uint64_t oldest = follow->lease->oldest;

    if (follow->last_unit > 0 && follow->last_unit < oldest) {
        (void)follow_forget_below(follow, oldest);
        follow->unit = NULL;
        follow->next_unit = oldest;
        follow->last_unit = 0;
        follow->seq = 0;
        follow->last.known = false;
        follow->renewal = 0;
        follow_owe(follow);
        follow->anew_below = 0;
        follow->follows_on = false;
    } else if (follow_forget_below(follow, oldest)) {
        follow_owe(follow);
    }
}
