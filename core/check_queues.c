/* SPDX-License-Identifier: MIT */
#include "core/check_private.h"

#include "core/broker_private.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/job.h"
#include "core/open_queues.h"
#include "core/policy.h"
#include "core/queue.h"
#include "core/session.h"
#include "core/states.h"

static void visit_ready(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct job **before = context;
    const struct job *job = job_in_tree(node);

    check_job(tally, job, JOB_READY);
    tally->ready_in[band_of(job->pri)]++;
    ENSURE(!*before || (*before)->pri < job->pri ||
           ((*before)->pri == job->pri && (*before)->seq < job->seq));
    *before = job;
}

static void visit_delayed(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct job **before = context;
    const struct job *job = job_in_tree(node);

    check_job(tally, job, JOB_DELAYED);
    ENSURE(!*before || (*before)->due_at <= job->due_at);
    *before = job;
}

static void check_delayed(struct tally *tally, const struct queue *queue)
{
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        const struct job *first = job_in_tree(tree_first(&queue->delayed[clock]));
        const struct job *before = NULL;

        check_tree(&queue->delayed[clock], tally, visit_delayed, &before);
        ENSURE(queue->due[clock].at == (first ? first->due_at : NSEC_NEVER));
        tally->moments[clock] += first != NULL;
    }
}

static void visit_returning(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct job *job = job_in_tree(node);
    uint64_t *before = context;

    check_job(tally, job, JOB_BURIED);
    ENSURE(*before <= job->burial);
    *before = job->burial;
}

static void check_buried(struct tally *tally, const struct queue *queue)
{
    uint64_t before = 0;

    if (tally->broker->restoring.active) {
        check_tree(&queue->returning, tally, visit_returning, &before);
        return;
    }
    list_each (node, &queue->buried) {
        const struct job *job = job_in_list(node);

        check_job(tally, job, JOB_BURIED);
        ENSURE(before <= job->burial && job->burial < tally->broker->next.burial);
        before = job->burial;
    }
}

// What is known of the tree's last node of high rank is true.
static void check_shortcut(const struct queue *queue)
{
    ENSURE(!queue->ready_high || queue->ready_high == tree_last_high(&queue->ready));
}

static bool has_waiter(const struct queue *queue)
{
    list_each (node, &queue->job_waits) {
        const struct session *session = list_item(node, struct subscription, waiting)->session;

        if (!session->closed && !session->unlinking) {
            return true;
        }
    }
    return false;
}

static void check_queue_flags(struct tally *tally, const struct queue *queue)
{
    bool meets = queue_open(queue) && has_waiter(queue);

    ENSURE(queue->bound.in == queue_open(queue));
    ENSURE(list_linked(&queue->opening) == queue_open(queue));
    ENSURE(!meets || queue->offer.in);
    ENSURE(queue->waiting == check_list(&queue->job_waits) + check_list(&queue->nudge_waits));
    ENSURE(queue_paused(queue) == (queue->pause_end.at != NSEC_NEVER) || queue->pause_for > 0);
    ENSURE(queue->kept || queue->holders || queue->subscriptions || queue_paused(queue) ||
           queue_jobs(queue) || (queue->gate && queue->gate->wakes.at != NSEC_NEVER) ||
           tally->broker->restoring.active);
    ENSURE(!tally->broker->restoring.active || queue_jobs(queue) || queue_paused(queue) ||
           list_linked(&queue->nudging));
    ENSURE(queue_paused(queue) == list_linked(&queue->recorded));
    tally->paused += queue_paused(queue);
    tally->working += queue_open(queue);
    tally->pauses += queue->pause_end.at != NSEC_NEVER;
}

static void count_indexed(struct tally *tally, const struct tree_node *node, void *context)
{
    (void)tally;
    (void)node;
    ++*(uint64_t *)context;
}

// Each ready job is indexed, or counted as one that is not.
static void check_expiry(struct tally *tally, const struct queue *queue)
{
    const struct gate *gate = queue->gate;
    uint64_t entries = 0, found = 0;
    const struct job *job = NULL;

    check_tree(&gate->waits, tally, count_indexed, &entries);
    ENSURE(!gate->waits_high || gate->waits_high == tree_last_high(&gate->waits));
    if (!gate->expires) {
        ENSURE(entries == 0 && gate->unindexed == 0 && gate->over.at == NSEC_NEVER);
        ENSURE(!(queue->closed & CLOSED_EXPIRING));
        return;
    }
    while ((job = queue_ready_after(queue, job ? job->pri : 0, job ? job->seq : 0))) {
        found += expiry_has(tally->broker, queue, job);
    }
    ENSURE(found == entries && found + gate->unindexed == queue->jobs[JOB_READY]);
    ENSURE((gate->unindexed > 0) == (gate->indexes_at != NSEC_NEVER));
    ENSURE(gate->over.at == expiry_due_at(tally->broker, queue));
}

static void check_gate(struct tally *tally, const struct queue *queue)
{
    const struct policy_spec *policy = POLICY_OF(queue);
    bool closed = queue->closed & CLOSED_RATE;

    ENSURE((queue->gate != NULL) == (policy && gate_wanted(policy)));
    if (!queue->gate) {
        ENSURE(!(queue->closed & ~CLOSED_PAUSED));
        return;
    }
    ENSURE(queue->gate->queue == queue);
    ENSURE(((queue->closed & CLOSED_RUNNING) != 0) ==
           (policy->max_running > 0 && queue->jobs[JOB_RESERVED] >= policy->max_running));
    ENSURE(!closed || queue->gate->wakes.at == gate_opens_at(queue));
    ENSURE(closed || policy->rate_interval_for == 0 ||
           gate_opens_at(queue) <= tally->broker->now.mono);
    tally->gates += queue->gate->wakes.at != NSEC_NEVER;
    ENSURE(queue->gate->expires == queue_expires(queue));
    check_expiry(tally, queue);
    ENSURE(queue->gate->weight == policy->weight);
    ENSURE(queue->gate->weighing == (policy->weight > 0 && queue_open(queue)));
    tally->weighing += queue->gate->weighing;
    tally->weights += policy->weight > 0;
    tally->expiring += queue->gate->expires;
    tally->expiries += queue->gate->over.at != NSEC_NEVER;
}

void check_queue(struct tally *tally, const struct queue *queue)
{
    struct tally own = {.broker = tally->broker};
    const struct job *before = NULL;

    check_tree(&queue->ready, &own, visit_ready, &before);
    check_delayed(&own, queue);
    check_buried(&own, queue);
    own.jobs[JOB_RESERVED] = queue->jobs[JOB_RESERVED]; // counted with their holders
    for (unsigned state = 0; state < JOB_STATES; state++) {
        ENSURE(queue->jobs[state] == own.jobs[state]);
        tally->jobs[state] += state == JOB_RESERVED ? 0 : own.jobs[state];
    }
    for (unsigned band = 0; band < BAND_COUNT; band++) {
        ENSURE(queue->ready_in[band] == own.ready_in[band]);
        tally->ready_in[band] += own.ready_in[band];
    }
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        tally->moments[clock] += own.moments[clock];
    }
    ENSURE(own.bytes <= queue->bytes); // of those that are held, their holders tell
    tally->bytes += own.bytes - queue->bytes;
    tally->keyed += own.keyed;
    tally->named += own.named;
    tally->firsts += own.firsts;
    tally->ringed += own.ringed;
    tally->noted += own.noted;
    tally->queues++;
    tally->subscriptions += queue->subscriptions;
    check_queue_flags(tally, queue);
    check_gate(tally, queue);
    check_shortcut(queue);
}

static void visit_open(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct bound *bound =
        container_of((struct tree_node *)(uintptr_t)node, struct bound, node);
    const struct queue *queue = container_of((struct bound *)(uintptr_t)bound, struct queue, bound);
    const struct job *best = job_in_tree(tree_first(&queue->ready));
    const struct bound **before = context;

    ENSURE(bound->in);
    ENSURE(bound->pri < best->pri || (bound->pri == best->pri && bound->seq <= best->seq));
    ENSURE(!*before || (*before)->pri < bound->pri ||
           ((*before)->pri == bound->pri && (*before)->seq < bound->seq));
    *before = bound;
    tally->working--;
}

void check_open_queues(struct tally *tally)
{
    const struct broker *broker = tally->broker;
    const struct bound *before = NULL;
    uint64_t opened = 0;

    ENSURE(check_list(&broker->open.in_order) == tally->working);
    list_each (node, &broker->open.in_order) {
        const struct queue *queue = list_item(node, struct queue, opening);

        ENSURE(opened < queue->opened && queue->opened <= broker->open.last);
        opened = queue->opened;
    }
    check_tree(&broker->open.by_bound, tally, visit_open, &before);
    before = NULL;
    check_tree(&broker->open.by_bound_weighed, tally, visit_open, &before);
    ENSURE(tally->working == 0); // those that say so less those that are there
}

static void visit_by_tag(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct gate *gate =
        container_of((struct tree_node *)(uintptr_t)node, struct gate, by_tag);
    const struct job *best = job_in_tree(tree_first(&gate->queue->ready));
    const struct gate **before = context;

    ENSURE(gate->weighing && best->pri == gate->pri && best->seq == gate->seq);
    ENSURE(!*before || (*before)->pri < gate->pri ||
           ((*before)->pri == gate->pri && (*before)->tag <= gate->tag));
    *before = gate;
    tally->weighing--;
}

static void visit_by_began(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct gate *gate =
        container_of((struct tree_node *)(uintptr_t)node, struct gate, by_began);
    const struct gate **before = context;

    ENSURE(!*before || (*before)->pri < gate->pri ||
           ((*before)->pri == gate->pri &&
            gate_began((*before)->tag, (*before)->weight) >= gate_began(gate->tag, gate->weight)));
    *before = gate;
    tally->weighing++;
}

void check_weights(struct tally *tally)
{
    const struct gate *before = NULL;
    uint64_t weighing = tally->weighing;

    check_tree(&tally->broker->gates.by_tag, tally, visit_by_tag, &before);
    ENSURE(tally->weighing == 0); // those that say so less those that are there
    before = NULL;
    check_tree(&tally->broker->gates.by_began, tally, visit_by_began, &before);
    ENSURE(tally->weighing == weighing);
}

// All queues at their places, those that have gone included, in the order in which they came.
static void check_roll_order(const struct tally *tally)
{
    const struct broker *broker = tally->broker;
    uint32_t before = TABLE_NONE;
    uint64_t came_at = 0;
    uint64_t count = 0;

    for (uint32_t place = broker->rolls.first; place != TABLE_NONE;) {
        const struct queue *queue = table_get(&broker->index.queues, place);

        ENSURE(queue->place == place && queue->earlier == before && came_at < queue->came_at);
        came_at = queue->came_at;
        before = place;
        place = queue->later;
        count++;
    }
    ENSURE(broker->rolls.last == before);
    ENSURE(count == tally->queues + tally->gone);
}

// Each queue that has gone is kept for one roll, whose moment it was there at, unless it is still
// to be sorted.
void check_rolls(struct tally *tally)
{
    const struct broker *broker = tally->broker;
    uint64_t at = 0;

    ENSURE(broker->rolls.kept == tally->gone);
    check_roll_order(tally);
    list_each (roll_node, &broker->rolls.all) {
        const struct queue_roll *roll = list_item(roll_node, struct queue_roll, all);

        ENSURE(at <= roll->at && roll->at <= broker->rolls.moment);
        at = roll->at;
        ENSURE(!roll->passed || (roll->passed->gone && roll->passed->passed));
        list_each (node, &roll->gone) {
            const struct queue *queue = list_item(node, struct queue, in_roll);

            ENSURE(queue->gone && queue->came_at <= roll->at && roll->at < queue->went_at);
            tally->gone--;
        }
        ENSURE(list_empty(&roll->unsorted) || list_linked(&roll->sorting));
        tally->gone -= check_list(&roll->unsorted);
    }
    ENSURE(tally->gone == 0); // those at their places less those in a list
}
