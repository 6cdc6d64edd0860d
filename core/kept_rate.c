/* SPDX-License-Identifier: MIT */
#include "core/kept_rate.h"

#include "core/gate.h"
#include "core/memo_private.h"

#define LONG_FOR (60 * NSEC_PER_SEC)
// So many parts of what may be taken at once are told apart.
#define PARTS 8

// Without room, the store has what it had.
static void write(struct broker *broker, struct queue *queue)
{
    struct gate *gate = queue->gate;
    nsec_t rests_for = gate->rests_at - broker->now.mono;
    const struct memo memo = {
        .kind = MEMO_RATE,
        .key = queue_name(queue),
        .until_at = nsec_add(broker->now.wall, rests_for > 0 ? rests_for : 0),
    };

    if (memo_set_unawaited(broker, &memo) == STATUS_OK) {
        gate->kept_at = gate->rests_at;
    }
}

// Whether the rate is to be kept, and is further from rest by so much than the store knows.
static bool is_ahead(const struct broker *broker, const struct queue *queue, nsec_t parts)
{
    const struct gate *gate = queue->gate;
    nsec_t whole_for = gate_recovery_for(queue);
    nsec_t known_at = gate->kept_at > broker->now.mono ? gate->kept_at : broker->now.mono;

    return whole_for >= LONG_FOR && gate->rests_at - known_at > 0 &&
           gate->rests_at - known_at >= whole_for / PARTS * parts;
}

void kept_rate_taken(struct broker *broker, struct queue *queue)
{
    if (broker->store.recorder && is_ahead(broker, queue, 1)) {
        write(broker, queue);
    }
}

void kept_rate_given_back(struct broker *broker, struct queue *queue)
{
    const struct gate *gate = queue->gate;

    if (broker->store.recorder && gate->kept_at > broker->now.mono &&
        gate->rests_at < gate->kept_at) {
        write(broker, queue);
    }
}

void kept_rate_rested(struct broker *broker, const struct queue *queue)
{
    if (gate_recovery_for(queue) >= LONG_FOR) {
        struct memo_entry *kept = memo_lookup(broker, MEMO_RATE, queue_name(queue));

        if (kept && !memo_has_ended(broker, &kept->memo)) {
            memo_forget_unawaited(broker, kept);
        }
    }
}

void kept_rate_retire(struct broker *broker)
{
    uint32_t cursor = 0;
    struct queue *queue;

    while (broker->store.recorder && (queue = table_next(&broker->index.queues, &cursor))) {
        if (queue->gate && is_ahead(broker, queue, 0)) {
            write(broker, queue);
        }
    }
}
