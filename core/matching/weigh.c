/* SPDX-License-Identifier: MIT */
#include "core/matching/weigh.h"

#include "core/model/charge.h"
#include "core/model/gate.h"
#include "core/model/job.h"
#include "core/model/subscription.h"

// By so much a take puts off the tag of a queue of weight 1. Beyond 2^40 such takes it would wrap.
#define STRIDE (UINT64_C(1) << 24)

struct pick {
    uint32_t pri;     // the lowest number so far
    uint64_t last;    // of those that have it: the tag at which one was taken from last
    unsigned count;   // how many have it
    bool picks;       // pri and last are known: the lowest tag is looked for
    struct job *best; // with the lowest tag so far
    struct subscription *by;
    uint64_t tag;
};

// One that may be chosen: a queue's best job, or the oldest of the queues without a weight.
static void see(struct pick *pick, struct job *job, struct subscription *by, uint64_t tag,
                uint32_t weight)
{
    uint64_t stride = STRIDE / weight;
    uint64_t began = tag > stride ? tag - stride : 0;
    uint64_t from = tag > pick->last ? tag : pick->last;

    if (!pick->picks) {
        if (pick->count == 0 || job->pri < pick->pri) {
            *pick = (struct pick){.pri = job->pri};
        }
        if (job->pri == pick->pri) {
            pick->last = began > pick->last ? began : pick->last;
            pick->count++;
        }
    } else if (job->pri == pick->pri && (!pick->best || from < pick->tag ||
                                         (from == pick->tag && job->seq < pick->best->seq))) {
        pick->best = job;
        pick->by = by;
        pick->tag = from;
    }
}

static void see_queue(struct pick *pick, const struct queue *queue, struct subscription *by)
{
    if (queue_open(queue) && !by->barred) {
        see(pick, job_in_tree(tree_first(&queue->ready)), by, queue->gate->tag,
            queue->gate->weight);
    }
}

// By whichever way is shorter: the session's queues that have a weight, or those of all that the
// session takes from.
static void see_all(struct session *session, struct pick *pick)
{
    const struct broker *broker = session->broker;

    if (session->subscriptions < broker->gates.weights) {
        list_each (node, &session->subscribed) {
            struct subscription *by = list_item(node, struct subscription, in_session);
            const struct queue *queue = subscription_queue(by);

            if (queue->gate && queue->gate->weight > 0) {
                see_queue(pick, queue, by);
            }
        }
        return;
    }
    list_each (node, &broker->gates.weighing) {
        const struct queue *queue = list_item(node, struct gate, weighing)->queue;
        struct subscription *by = session_find(session, queue);

        if (by) {
            see_queue(pick, queue, by);
        }
    }
}

struct job *weigh(struct session *session, struct job *oldest, struct subscription **by)
{
    struct broker *broker = session->broker;
    uint64_t looked = session->subscriptions < broker->gates.weights ? session->subscriptions
                                                                     : broker->gates.weights;
    struct pick pick = {.count = 0};

    for (int pass = 0; pass < 2; pass++) {
        pick.picks = pass == 1;
        see_all(session, &pick);
        if (oldest) {
            see(&pick, oldest, *by, broker->gates.others, 1);
        }
    }
    charge_links(broker, 2 * looked);
    broker->gates.weighed = pick.count > 1 ? pick.best->id : 0;
    broker->gates.weighed_tag = pick.tag;
    *by = pick.by;
    return pick.best;
}

void weigh_taken(const struct subscription *by, const struct job *job)
{
    const struct session *session = by->session;
    const struct queue *queue = subscription_queue(by);
    bool weighs = queue->gate && queue->gate->weight > 0;
    struct gates *gates = &session->broker->gates;
    uint64_t tag = gates->weighed_tag + STRIDE / (weighs ? queue->gate->weight : 1);

    // Others have chosen without weights, and what was noted is older than that.
    if (session->choice != CHOICE_OLDEST || session->subscriptions == 1 ||
        gates->weighed != job->id) {
        return;
    }
    gates->weighed = 0;
    if (weighs) {
        queue->gate->tag = tag;
    } else {
        gates->others = tag;
    }
}
