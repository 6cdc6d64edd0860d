/* SPDX-License-Identifier: MIT */
#include "core/check.h"

#include "core/job.h"
#include "core/key.h"
#include "core/lookup.h"
#include "core/queue.h"
#include "core/rota.h"
#include "core/subscription.h"
#include "core/watch.h"

// What the walk has counted so far.
struct tally {
    const struct broker *broker;
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t queues;
    uint64_t keyed;
    uint64_t named;  // jobs that hold a name
    uint64_t firsts; // of a name
    uint64_t ringed; // jobs in the rings of those
    uint64_t working;
    uint64_t open_sessions;
    uint64_t waiting; // sessions that wait
    uint64_t subscriptions;
    uint64_t moments[CLOCKS];
    uint64_t pauses;
    uint64_t paused;
    uint64_t alarms;
};

typedef void (*visit)(struct tally *tally, const struct tree_node *node, void *context);

// In order. Each node outranks those below it.
static void walk(const struct tree_node *node, struct tally *tally, visit visit_node, void *context)
{
    if (!node) {
        return;
    }
    ENSURE(!node->left || tree_rank(node->left) < tree_rank(node));
    ENSURE(!node->right || tree_rank(node->right) < tree_rank(node));
    walk(node->left, tally, visit_node, context);
    visit_node(tally, node, context);
    walk(node->right, tally, visit_node, context);
}

static void walk_tree(const struct tree *tree, struct tally *tally, visit visit_node, void *context)
{
    const struct tree_node *first = tree->root;

    while (first && first->left) {
        first = first->left;
    }
    ENSURE(tree->first == first);
    walk(tree->root, tally, visit_node, context);
}

static size_t list_length(const struct list_node *list)
{
    size_t length = 0;

    list_each (node, list) {
        ENSURE(node->next->prev == node && node->prev->next == node);
        length++;
    }
    return length;
}

static void check_interest(const struct broker *broker, const struct job *job)
{
    const struct interest *interest = job_interest(job);

    if (!interest) {
        return;
    }
    ENSURE(interest->job == job && interest->broker == broker);
    ENSURE(interest->count == list_length(&interest->watches));
    ENSURE(interest->untold == list_length(&interest->events));
    list_each (node, &interest->events) {
        const struct queued_event *event = list_item(node, struct queued_event, in_interest);

        ENSURE(event->interest == interest);
        // Behind one whose job takes long to tell, they are found by it.
        ENSURE(list_linked(&event->in_broker) ||
               (interest->slow && node != list_first(&interest->events)));
    }
    ENSURE(job->state != JOB_BURIED);
    list_each (node, &interest->watches) {
        ENSURE(list_item(node, struct watch, in_interest)->interest == interest);
    }
}

// From the first of each name, all who hold it are reached, and nobody else.
static void check_namesakes(struct tally *tally, struct job_extra *extra)
{
    const struct list_node *ring = &job_namesake(extra)->ring;

    tally->named++;
    if (!extra->first) {
        return;
    }
    tally->firsts++;
    tally->ringed += 1 + list_length(ring);
    ENSURE(broker_find_name(tally->broker, job_key(extra->job)) == extra->job);
    list_each (node, ring) {
        struct job_extra *other = job_of_namesake(list_item(node, struct namesake, ring));

        ENSURE(!other->first && other->keyed && other->key_kind == KEY_NAME);
        ENSURE(other->name_hash == extra->name_hash && other->job->queue != extra->job->queue);
        ENSURE(slice_equal(job_key(other->job), job_key(extra->job)));
    }
}

static void check_key(struct tally *tally, const struct job *job)
{
    struct job_extra *extra = job->extra;
    struct key_hash hash;

    ENSURE(key_find(tally->broker, queue_at(tally->broker, job), (enum key_kind)extra->key_kind,
                    job_key(job), &hash) == job);
    ENSURE(hash.whole == extra->key_hash);
    tally->keyed++;
    if (extra->key_kind == KEY_NAME) {
        check_namesakes(tally, extra);
    }
}

static void check_job(struct tally *tally, const struct job *job, enum job_state state)
{
    const struct broker *broker = tally->broker;
    const struct job_extra *extra = job->extra;

    ENSURE(job->state == state);
    ENSURE(broker_find(broker, job->id) == job);
    ENSURE(job->id < broker->next.id && job->seq < broker->next.seq);
    ENSURE(!job->abandoned || (!job->durable && state == JOB_RESERVED));
    ENSURE(!extra || !extra->claims);
    ENSURE(!(state == JOB_BURIED && (!job->durable || (extra && extra->keyed))));
    ENSURE(!extra || extra->job == job);
    ENSURE(state == JOB_RESERVED || !extra || extra->limit_at == 0);
    tally->jobs[state]++;
    ENSURE(!extra || extra->keyed || !extra->first);
    if (extra && extra->keyed) {
        check_key(tally, job);
    }
    check_interest(broker, job);
}

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

static void visit_lease(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct job **before = context;
    const struct job *job = job_in_tree(node);

    check_job(tally, job, JOB_RESERVED);
    ENSURE(!*before || (*before)->due_at < job->due_at ||
           ((*before)->due_at == job->due_at && (*before)->seq < job->seq));
    *before = job;
}

static void check_delayed(struct tally *tally, const struct queue *queue)
{
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        const struct job *first = job_in_tree(tree_first(&queue->delayed[clock]));
        const struct job *before = NULL;

        walk_tree(&queue->delayed[clock], tally, visit_delayed, &before);
        ENSURE(queue->due[clock].at == (first ? first->due_at : NSEC_NEVER));
        tally->moments[clock] += first != NULL;
    }
}

static void check_buried(struct tally *tally, const struct queue *queue)
{
    uint64_t before = 0;

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
        if (!list_item(node, struct subscription, waiting)->session->closed) {
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
    ENSURE(!meets || list_linked(&queue->matching));
    ENSURE(queue->waiting == list_length(&queue->job_waits) + list_length(&queue->nudge_waits));
    ENSURE(queue->paused == (queue->pause_end.at != NSEC_NEVER) || queue->pause_for > 0);
    ENSURE(queue->kept || queue->holders || queue->subscriptions || queue->stays_for_pause ||
           queue_jobs(queue));
    ENSURE(!queue->stays_for_pause || queue->paused);
    ENSURE(queue->paused == list_linked(&queue->recorded));
    tally->paused += queue->paused;
    tally->working += queue_open(queue);
    tally->pauses += queue->pause_end.at != NSEC_NEVER;
}

static void check_queue(struct tally *tally, const struct queue *queue)
{
    struct tally own = {.broker = tally->broker};
    const struct job *before = NULL;

    walk_tree(&queue->ready, &own, visit_ready, &before);
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
    tally->keyed += own.keyed;
    tally->named += own.named;
    tally->firsts += own.firsts;
    tally->ringed += own.ringed;
    tally->queues++;
    tally->subscriptions += queue->subscriptions;
    check_queue_flags(tally, queue);
    check_shortcut(queue);
}

// One that is passed over has no open queue, or is brought back before the session chooses.
static void check_idle(const struct subscription *subscription)
{
    const struct queue *queue = subscription_queue(subscription);

    ENSURE(subscription->idle);
    ENSURE(!queue_open(queue) || queue->opened > subscription->session->rota->seen);
}

static void check_rota(const struct session *session)
{
    const struct subscription *before = NULL;
    const struct subscription *next;
    size_t count = 0;

    if (session->choice != CHOICE_IN_TURN) {
        return;
    }
    for (; (next = rota_next(session, before)); before = next) {
        ENSURE(!next->idle && (!before || before->turn < next->turn));
        count++;
    }
    list_each (node, &session->rota->idle) {
        check_idle(list_item(node, struct subscription, in_rota));
    }
    ENSURE(list_length(&session->rota->idle) == session->rota->idle_count);
    ENSURE(count + session->rota->idle_count == session->subscriptions);
}

static void check_subscriptions(struct tally *tally, const struct session *session)
{
    size_t limited = 0;

    ENSURE(list_length(&session->subscribed) == session->subscriptions);
    list_each (node, &session->subscribed) {
        const struct subscription *subscription = list_item(node, struct subscription, in_session);

        ENSURE(subscription->session == session);
        ENSURE(session_find(session, subscription_queue(subscription)) == subscription);
        ENSURE(session->closed ||
               list_linked(&subscription->waiting) == (session->wait_state != WAITING_NOT));
        limited += subscription->limit_ms > 0;
    }
    ENSURE(limited == session->limited);
    check_rota(session);
    tally->subscriptions -= session->subscriptions;
}

static void check_session(struct tally *tally, const struct session *session)
{
    const struct job *before = NULL;
    uint64_t held = tally->jobs[JOB_RESERVED];
    bool to_tell = session->assigned || session->nudged || session->waited_enough;

    walk_tree(&session->leases, tally, visit_lease, &before);
    ENSURE(tally->jobs[JOB_RESERVED] - held == session->lease_count);
    ENSURE(!session->assigned || holder_of(tally->broker, session->assigned) == session);
    ENSURE(!session->assigned || session->wait_state == WAITING_NOT);
    ENSURE(session->closed || list_linked(&session->notice) == to_tell);
    ENSURE(!session->closed || session->wait_state == WAITING_NOT);
    check_subscriptions(tally, session);
    tally->open_sessions += !session->closed;
    tally->waiting += session->wait_state != WAITING_NOT;
    tally->alarms += session->alarm.at != NSEC_NEVER;
}

static void visit_moment(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct moment *moment =
        container_of((struct tree_node *)(uintptr_t)node, struct moment, node);
    nsec_t *before = context;

    (void)tally;
    ENSURE(*before <= moment->at && moment->at != NSEC_NEVER);
    *before = moment->at;
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

static void check_open_queues(struct tally *tally)
{
    const struct broker *broker = tally->broker;
    const struct bound *before = NULL;
    uint64_t opened = 0;

    ENSURE(list_length(&broker->open.in_order) == tally->working);
    list_each (node, &broker->open.in_order) {
        const struct queue *queue = list_item(node, struct queue, opening);

        ENSURE(opened < queue->opened && queue->opened <= broker->open.last);
        opened = queue->opened;
    }
    walk_tree(&broker->open.by_bound, tally, visit_open, &before);
    ENSURE(tally->working == 0); // those that say so less those that are there
}

struct count_moments {
    uint64_t count;
    nsec_t before;
};

static void visit_and_count(struct tally *tally, const struct tree_node *node, void *context)
{
    struct count_moments *seen = context;

    visit_moment(tally, node, &seen->before);
    seen->count++;
}

static void check_moments(struct tally *tally, const struct tree *tree, uint64_t expected)
{
    struct count_moments seen = {0, INT64_MIN};

    walk_tree(tree, tally, visit_and_count, &seen);
    ENSURE(seen.count == expected);
}

static void check_totals(const struct tally *tally)
{
    const struct broker *broker = tally->broker;
    uint64_t live = 0;

    for (unsigned state = 0; state < JOB_STATES; state++) {
        ENSURE(broker->count.jobs[state] == tally->jobs[state]);
        live += tally->jobs[state];
    }
    for (unsigned band = 0; band < BAND_COUNT; band++) {
        ENSURE(broker->count.ready_in[band] == tally->ready_in[band]);
    }
    ENSURE(id_map_count(&broker->index.jobs_by_id) == live);
    ENSURE(hash_count(&broker->index.jobs_by_key) == tally->keyed - tally->firsts);
    ENSURE(hash_count(&broker->index.jobs_by_name) == tally->firsts);
    ENSURE(tally->ringed == tally->named);
    ENSURE(hash_count(&broker->index.queues_by_name) == tally->queues);
    ENSURE(broker->count.queues == tally->queues);
    ENSURE(broker->count.sessions == tally->open_sessions);
    ENSURE(broker->count.waiting == tally->waiting);
    ENSURE(tally->subscriptions == 0); // those of queues less those of sessions
}

void broker_check(const struct broker *broker)
{
    struct tally tally = {.broker = broker};
    const struct queue *queue;
    const struct session *session;
    uint32_t cursor = 0;

    while ((queue = table_next(&broker->index.queues, &cursor))) {
        check_queue(&tally, queue);
    }
    cursor = 0;
    while ((session = table_next(&broker->index.sessions, &cursor))) {
        check_session(&tally, session);
    }
    check_moments(&tally, &broker->timers.delays[CLOCK_MONO], tally.moments[CLOCK_MONO]);
    check_moments(&tally, &broker->timers.delays[CLOCK_WALL], tally.moments[CLOCK_WALL]);
    check_moments(&tally, &broker->timers.pauses, tally.pauses);
    ENSURE(tally.paused == broker->paused.count &&
           tally.paused == list_length(&broker->paused.by_record));
    check_moments(&tally, &broker->timers.sessions, tally.alarms);
    check_open_queues(&tally);
    ENSURE(list_empty(&broker->matching.to_serve));
    check_totals(&tally);
}
