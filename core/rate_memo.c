/* SPDX-License-Identifier: MIT */
#include "core/rate_memo.h"

#include "core/gate.h"

#define RATE_LONG_FOR (60 * NSEC_PER_SEC)
// The memo is written again when this part of the burst has been taken.
#define RATE_PARTS 8

static void rate_memo_write(struct broker *broker, struct queue *queue)
{
    struct gate *gate = queue->gate;
    nsec_t rests_for = gate->rests_at - broker->now.mono;
    const struct memo memo = {
        .kind = MEMO_RATE,
        .key = queue_name(queue),
        .until_at = nsec_add(broker->now.wall, rests_for > 0 ? rests_for : 0),
    };

    if (memo_set_unawaited(broker, &memo) == STATUS_OK) {
        gate->stored_rest_at = gate->rests_at;
    }
}

// Whether the rate is long, and has been used by `parts` parts more than the store knows.
static bool rate_memo_is_behind(const struct broker *broker, const struct queue *queue,
                                nsec_t parts)
{
    const struct gate *gate = queue->gate;
    nsec_t whole_for = gate_recovery_for(queue);
    nsec_t known_at =
        gate->stored_rest_at > broker->now.mono ? gate->stored_rest_at : broker->now.mono;

    return whole_for >= RATE_LONG_FOR && gate->rests_at - known_at > 0 &&
           gate->rests_at - known_at >= whole_for / RATE_PARTS * parts;
}

void rate_memo_taken(struct broker *broker, struct queue *queue)
{
    if (broker->store.recorder && rate_memo_is_behind(broker, queue, 1)) {
        rate_memo_write(broker, queue);
    }
}

void rate_memo_given_back(struct broker *broker, struct queue *queue)
{
    const struct gate *gate = queue->gate;

    if (broker->store.recorder && gate->stored_rest_at > broker->now.mono &&
        gate->rests_at < gate->stored_rest_at) {
        rate_memo_write(broker, queue);
    }
}

void rate_memo_rested(struct broker *broker, const struct queue *queue)
{
    if (gate_recovery_for(queue) >= RATE_LONG_FOR) {
        struct memo_entry *kept = memo_lookup(broker, MEMO_RATE, queue_name(queue));

        if (kept && !memo_has_ended(broker, &kept->memo)) {
            memo_forget_unawaited(broker, kept);
        }
    }
}

void rate_memo_retire(struct broker *broker)
{
    uint32_t cursor = 0;
    struct queue *queue;

    while (broker->store.recorder && (queue = table_next(&broker->index.queues, &cursor))) {
        if (queue->gate && rate_memo_is_behind(broker, queue, 0)) {
            rate_memo_write(broker, queue);
        }
    }
}
