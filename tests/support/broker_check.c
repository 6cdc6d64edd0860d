/* SPDX-License-Identifier: MIT */

#include "tests/support/broker_check.h"

#include "core/base/blob.h"
#include "core/broker.h"
#include "core/broker_private.h"
#include "core/charge.h"
#include "core/dead_letter.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/job_private.h"
#include "core/job_state.h"
#include "core/key.h"
#include "core/lease.h"
#include "core/memo_private.h"
#include "core/policy_private.h"
#include "core/queue_private.h"
#include "core/session_private.h"
#include "core/subscription.h"
#include "core/timers.h"
#include "core/watch.h"

// Jobs and queues, up to which a broker is checked after each step.
enum { FEW_OBJECTS = 32 };

// The counts of the walk so far; at the end they are compared with those of the broker.
struct census {
    const struct broker *broker;
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t bytes; // of bodies of jobs that are not buried, less the sums of their queues
    uint64_t queues;
    uint64_t keyed;
    uint64_t named;       // jobs that hold a name
    uint64_t firsts;      // first holders of a name
    uint64_t ringed;      // jobs in the rings of first holders, these included
    uint64_t dead_letter; // jobs that are dead letters
    uint64_t working;
    uint64_t open_sessions;
    uint64_t waiting;   // sessions that wait
    uint64_t relinking; // wide sessions that have links to make or undo
    uint64_t producers, workers;
    uint64_t subscriptions;
    uint64_t moments[CLOCKS];
    uint64_t pauses;
    uint64_t paused;
    uint64_t gates; // gates with a timer
    uint64_t expiring, expiries, weights, weighing;
    uint64_t alarms;
    uint64_t gone; // queues that snapshots alone refer to
    uint64_t memos;
    uint64_t memo_ends; // memos with an end
};

// Called for each node of a tree.
typedef void (*check_visit)(struct census *census, const struct tree_node *node, void *context);

// Visits the nodes in order, and checks that each outranks its children.
static void walk(const struct tree_node *node, struct census *census, check_visit visit_node,
                 void *context)
{
    if (!node) {
        return;
    }
    ENSURE(!node->left || tree_rank(node->left) < tree_rank(node));
    ENSURE(!node->right || tree_rank(node->right) < tree_rank(node));
    walk(node->left, census, visit_node, context);
    visit_node(census, node, context);
    walk(node->right, census, visit_node, context);
}

static void check_tree(const struct tree *tree, struct census *census, check_visit visit_node,
                       void *context)
{
    const struct tree_node *first = tree->root;

    while (first && first->left) {
        first = first->left;
    }
    ENSURE(tree->first == first);
    walk(tree->root, census, visit_node, context);
}

static size_t check_list(const struct list_node *list)
{
    size_t length = 0;

    list_each (node, list) {
        ENSURE(node->next->prev == node && node->prev->next == node);
        length++;
    }
    return length;
}

static void visit_timer(struct census *census, const struct tree_node *node, void *context)
{
    const struct timer *moment =
        container_of((struct tree_node *)(uintptr_t)node, struct timer, node);
    nsec_t *before = context;

    (void)census;
    ENSURE(*before <= moment->at && moment->at != NSEC_NEVER);
    *before = moment->at;
}

struct count_moments {
    uint64_t count;
    nsec_t before;
};

static void visit_and_count(struct census *census, const struct tree_node *node, void *context)
{
    struct count_moments *seen = context;

    visit_timer(census, node, &seen->before);
    seen->count++;
}

static void check_moments(struct census *census, const struct tree *tree, uint64_t expected)
{
    struct count_moments seen = {0, INT64_MIN};

    check_tree(tree, census, visit_and_count, &seen);
    ENSURE(seen.count == expected);
}

struct memos_seen {
    enum memo_kind kind;
    uint64_t count, bytes;
    uint64_t before; // number of the previous memo
    uint64_t recorded, recorded_bytes;
};

static void visit_memo(struct census *census, const struct tree_node *node, void *context)
{
    const struct memo_entry *kept = memo_by_number((struct tree_node *)(uintptr_t)node);
    const struct memo *memo = &kept->memo;
    struct memos_seen *seen = context;

    ENSURE(memo->kind == seen->kind && memo->number > seen->before);
    ENSURE(memo->number <= census->broker->memos.last);
    ENSURE(memo->key.len > 0 && memo->key.ptr == kept->bytes && kept->end.at == memo->until_at);
    ENSURE(memo->value.ptr ==
           (memo->blob ? memo->blob->bytes : (const char *)kept->bytes + memo->key.len));
    seen->before = memo->number;
    seen->count++;
    seen->bytes += memo_footprint(memo);
    census->memos++;
    census->memo_ends += memo->until_at != NSEC_NEVER;
    if (list_linked(&kept->recorded)) {
        seen->recorded++;
        seen->recorded_bytes += memo->key.len + memo->value.len;
    }
}

static void check_memos(struct census *census)
{
    const struct memos *memos = &census->broker->memos;

    struct memos_seen seen = {.recorded = 0};

    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        const struct memos_of_kind *of = &memos->of[kind];

        seen = (struct memos_seen){.kind = (enum memo_kind)kind,
                                   .recorded = seen.recorded,
                                   .recorded_bytes = seen.recorded_bytes};
        check_tree(&of->by_number, census, visit_memo, &seen);
        ENSURE(of->usage.count == seen.count && of->usage.bytes == seen.bytes);
    }
    ENSURE(hash_count(&memos->by_key) == census->memos);
    ENSURE(memos->recorded == seen.recorded && memos->recorded_bytes == seen.recorded_bytes &&
           memos->recorded == check_list(&memos->by_record));
}

static void check_interest(const struct broker *broker, const struct job *job)
{
    const struct interest *interest = job_interest(job);

    if (!interest) {
        return;
    }
    ENSURE(interest->job == job && interest->broker == broker);
    ENSURE(interest_listeners(interest) == check_list(&interest->watches));
    ENSURE(interest->untold == check_list(&interest->events));
    list_each (node, &interest->events) {
        const struct queued_event *event = list_item(node, struct queued_event, in_interest);

        ENSURE(event->interest == interest);
    }
    ENSURE(list_linked(&interest->in_broker) == (interest->untold > 0));
    ENSURE(job->state != JOB_BURIED);
    list_each (node, &interest->watches) {
        ENSURE(list_item(node, struct watch, in_interest)->interest == interest);
    }
}

// The ring of a name's first holder has all other holders, and no other job.
static void check_namesakes(struct census *census, struct job_extra *extra)
{
    const struct list_node *ring = &job_namesake(extra)->ring;

    census->named++;
    if (!extra->first) {
        return;
    }
    census->firsts++;
    census->ringed += 1 + check_list(ring);
    ENSURE(broker_find_name(census->broker, job_key(extra->job).bytes) == extra->job);
    list_each (node, ring) {
        struct job_extra *other = job_of_namesake(list_item(node, struct namesake, ring));

        ENSURE(!other->first && other->keyed && other->key_kind == KEY_NAME);
        ENSURE(other->name_hash == extra->name_hash && other->job->queue != extra->job->queue);
        ENSURE(slice_equal(job_key(other->job).bytes, job_key(extra->job).bytes));
    }
}

static void check_key(struct census *census, const struct job *job)
{
    struct job_extra *extra = job->extra;
    struct key_hash hash;

    ENSURE(key_find(census->broker, queue_at(census->broker, job), job_key(job), &hash) == job);
    ENSURE(hash.whole == extra->key_hash);
    census->keyed++;
    if (extra->key_kind == KEY_NAME) {
        check_namesakes(census, extra);
    }
}

static void check_dead_letter(struct census *census, const struct job *job)
{
    struct dead_letter letter;

    if (job->dead_letter) {
        ENSURE(job->durable && job_dead_letter(census->broker, job, &letter) &&
               letter.queue.len > 0);
        census->dead_letter++;
    }
}

static bool is_durable_lease(const struct broker *broker, const struct job *job)
{
    struct lease_memo memo;

    return job->state == JOB_RESERVED && job->durable && lease_memo_find(broker, job->id, &memo);
}

static void check_job(struct census *census, const struct job *job, enum job_state state)
{
    const struct broker *broker = census->broker;
    const struct job_extra *extra = job->extra;

    ENSURE(job->state == state);
    ENSURE(broker_find(broker, job->id) == job);
    ENSURE(job->id < broker->next.id && job->seq < broker->next.seq);
    ENSURE(!job->abandoned || (!job->durable && state == JOB_RESERVED));
    ENSURE(!extra || !extra->claims || (!extra->keyed && census->broker->restoring.active));
    ENSURE(!(state == JOB_BURIED && (!job->durable || (extra && extra->keyed))));
    ENSURE(!extra || extra->job == job);
    ENSURE(state == JOB_RESERVED || !extra || extra->limit_at == 0);
    ENSURE(!extra || !extra->lease_durable || is_durable_lease(broker, job));
    census->jobs[state]++;
    census->bytes += state == JOB_BURIED ? 0 : job_body(job).len;
    ENSURE(!extra || extra->keyed || !extra->first);
    if (extra && extra->keyed) {
        check_key(census, job);
    }
    check_dead_letter(census, job);
    check_interest(broker, job);
}

static void visit_ready(struct census *census, const struct tree_node *node, void *context)
{
    const struct job **before = context;
    const struct job *job = job_in_tree(node);

    check_job(census, job, JOB_READY);
    census->ready_in[band_of(job->pri)]++;
    ENSURE(!*before || (*before)->pri < job->pri ||
           ((*before)->pri == job->pri && (*before)->seq < job->seq));
    *before = job;
}

static void visit_delayed(struct census *census, const struct tree_node *node, void *context)
{
    const struct job **before = context;
    const struct job *job = job_in_tree(node);

    check_job(census, job, JOB_DELAYED);
    ENSURE(!*before || (*before)->due_at <= job->due_at);
    *before = job;
}

static void check_delayed(struct census *census, const struct queue *queue)
{
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        const struct job *first = job_in_tree(tree_first(&queue->delayed[clock]));
        const struct job *before = NULL;

        check_tree(&queue->delayed[clock], census, visit_delayed, &before);
        ENSURE(queue->due[clock].at == (first ? first->due_at : NSEC_NEVER));
        census->moments[clock] += first != NULL;
    }
}

static void visit_returning(struct census *census, const struct tree_node *node, void *context)
{
    const struct job *job = job_in_tree(node);
    uint64_t *before = context;

    check_job(census, job, JOB_BURIED);
    ENSURE(*before <= job->burial);
    *before = job->burial;
}

static void check_buried(struct census *census, const struct queue *queue)
{
    uint64_t before = 0;

    if (census->broker->restoring.active) {
        check_tree(&queue->returning, census, visit_returning, &before);
        return;
    }
    list_each (node, &queue->buried) {
        const struct job *job = job_in_list(node);

        check_job(census, job, JOB_BURIED);
        ENSURE(before <= job->burial && job->burial < census->broker->next.burial);
        before = job->burial;
    }
}

// The stored end of a tree is right.
static void check_tree_end(const struct tree *tree, const struct tree_end *end)
{
    struct tree_end right = tree_find_end(tree);

    ENSURE(end->last ? end->last == right.last && end->high == right.high : !end->high);
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

static void check_queue_flags(struct census *census, const struct queue *queue)
{
    bool meets = queue_open(queue) && has_waiter(queue);

    ENSURE(queue->bound.in == queue_open(queue));
    ENSURE(list_linked(&queue->opening) == queue_open(queue));
    ENSURE(!meets || queue->offer.in);
    ENSURE(queue->waiting == check_list(&queue->job_waits) + check_list(&queue->nudge_waits));
    ENSURE(queue_paused(queue) == (queue->pause_end.at != NSEC_NEVER) || queue->pause_for > 0);
    ENSURE(queue->kept || queue->holders || queue->subscriptions || queue_paused(queue) ||
           queue_jobs(queue) || (queue->gate && queue->gate->wakes.at != NSEC_NEVER) ||
           census->broker->restoring.active);
    ENSURE(!census->broker->restoring.active || queue_jobs(queue) || queue_paused(queue) ||
           list_linked(&queue->nudging));
    ENSURE(queue_paused(queue) == list_linked(&queue->recorded));
    census->paused += queue_paused(queue);
    census->working += queue_open(queue);
    census->pauses += queue->pause_end.at != NSEC_NEVER;
}

static void count_indexed(struct census *census, const struct tree_node *node, void *context)
{
    (void)census;
    (void)node;
    ++*(uint64_t *)context;
}

// Each ready job is indexed, or counted as unindexed.
static void check_expiry(struct census *census, const struct queue *queue)
{
    const struct gate *gate = queue->gate;
    uint64_t entries = 0, found = 0;
    const struct job *job = NULL;

    check_tree(&gate->waits, census, count_indexed, &entries);
    check_tree_end(&gate->waits, &gate->waits_end);
    if (!gate->expires) {
        ENSURE(entries == 0 && gate->unindexed == 0 && gate->over.at == NSEC_NEVER);
        ENSURE(!(queue->closed & CLOSED_EXPIRING));
        return;
    }
    while ((job = queue_ready_after(queue, job ? job->pri : 0, job ? job->seq : 0))) {
        found += expiry_has(census->broker, queue, job);
    }
    ENSURE(found == entries && found + gate->unindexed == queue->jobs[JOB_READY]);
    ENSURE((gate->unindexed > 0) == (gate->indexes_at != NSEC_NEVER));
    ENSURE(gate->over.at == expiry_due_at(census->broker, queue));
}

static void check_gate(struct census *census, const struct queue *queue)
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
           gate_opens_at(queue) <= census->broker->now.mono);
    census->gates += queue->gate->wakes.at != NSEC_NEVER;
    ENSURE(queue->gate->expires == queue_expires(queue));
    check_expiry(census, queue);
    ENSURE(queue->gate->weight == policy->weight);
    ENSURE(queue->gate->weighing == (policy->weight > 0 && queue_open(queue)));
    census->weighing += queue->gate->weighing;
    census->weights += policy->weight > 0;
    census->expiring += queue->gate->expires;
    census->expiries += queue->gate->over.at != NSEC_NEVER;
}

static void check_queue(struct census *census, const struct queue *queue)
{
    struct census own = {.broker = census->broker};
    const struct job *before = NULL;

    check_tree(&queue->ready, &own, visit_ready, &before);
    check_delayed(&own, queue);
    check_buried(&own, queue);
    own.jobs[JOB_RESERVED] =
        queue->jobs[JOB_RESERVED]; // their holders' leases are counted elsewhere
    for (unsigned state = 0; state < JOB_STATES; state++) {
        ENSURE(queue->jobs[state] == own.jobs[state]);
        census->jobs[state] += state == JOB_RESERVED ? 0 : own.jobs[state];
    }
    for (unsigned band = 0; band < BAND_COUNT; band++) {
        ENSURE(queue->ready_in[band] == own.ready_in[band]);
        census->ready_in[band] += own.ready_in[band];
    }
    for (unsigned clock = 0; clock < CLOCKS; clock++) {
        census->moments[clock] += own.moments[clock];
    }
    ENSURE(own.bytes <= queue->bytes); // held jobs are counted with their holders
    census->bytes += own.bytes - queue->bytes;
    census->keyed += own.keyed;
    census->named += own.named;
    census->firsts += own.firsts;
    census->ringed += own.ringed;
    census->dead_letter += own.dead_letter;
    census->queues++;
    census->subscriptions += queue->subscriptions;
    check_queue_flags(census, queue);
    check_gate(census, queue);
    check_tree_end(&queue->ready, &queue->ready_end);
}

static void visit_open(struct census *census, const struct tree_node *node, void *context)
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
    census->working--;
}

static void check_open_queues(struct census *census)
{
    const struct broker *broker = census->broker;
    const struct bound *before = NULL;
    uint64_t opened = 0;

    ENSURE(check_list(&broker->open.in_order) == census->working);
    list_each (node, &broker->open.in_order) {
        const struct queue *queue = list_item(node, struct queue, opening);

        ENSURE(opened < queue->opened && queue->opened <= broker->open.last);
        opened = queue->opened;
    }
    check_tree(&broker->open.by_bound, census, visit_open, &before);
    before = NULL;
    check_tree(&broker->open.by_bound_weighed, census, visit_open, &before);
    ENSURE(census->working == 0); // queues marked as open, less queues in the index
}

static void visit_by_tag(struct census *census, const struct tree_node *node, void *context)
{
    const struct gate *gate =
        container_of((struct tree_node *)(uintptr_t)node, struct gate, by_tag);
    const struct job *best = job_in_tree(tree_first(&gate->queue->ready));
    const struct gate **before = context;

    ENSURE(gate->weighing && best->pri == gate->pri && best->seq == gate->seq);
    ENSURE(!*before || (*before)->pri < gate->pri ||
           ((*before)->pri == gate->pri && (*before)->tag <= gate->tag));
    *before = gate;
    census->weighing--;
}

static void visit_by_began(struct census *census, const struct tree_node *node, void *context)
{
    const struct gate *gate =
        container_of((struct tree_node *)(uintptr_t)node, struct gate, by_began);
    const struct gate **before = context;

    ENSURE(!*before || (*before)->pri < gate->pri ||
           ((*before)->pri == gate->pri &&
            gate_began((*before)->tag, (*before)->weight) >= gate_began(gate->tag, gate->weight)));
    *before = gate;
    census->weighing++;
}

static void check_weights(struct census *census)
{
    const struct gate *before = NULL;
    uint64_t weighing = census->weighing;

    check_tree(&census->broker->gates.by_tag, census, visit_by_tag, &before);
    ENSURE(census->weighing == 0); // gates marked as weighing, less gates in the tree
    before = NULL;
    check_tree(&census->broker->gates.by_began, census, visit_by_began, &before);
    ENSURE(census->weighing == weighing);
}

// All queues, freed ones that snapshots keep included, are in the order in which they were made.
static void check_snapshot_order(const struct census *census)
{
    const struct broker *broker = census->broker;
    uint32_t before = TABLE_NONE;
    uint64_t came_at = 0;
    uint64_t count = 0;

    for (uint32_t place = broker->snapshots.first; place != TABLE_NONE;) {
        const struct queue *queue = table_get(&broker->index.queues, place);

        ENSURE(queue->place == place && queue->earlier == before && came_at < queue->came_at);
        came_at = queue->came_at;
        before = place;
        place = queue->later;
        count++;
    }
    ENSURE(broker->snapshots.last == before);
    ENSURE(count == census->queues + census->gone);
}

// Each freed queue is kept for one snapshot, at whose moment it was there, unless it is still to be
// sorted.
static void check_snapshots(struct census *census)
{
    const struct broker *broker = census->broker;
    uint64_t at = 0;

    ENSURE(broker->snapshots.retained == census->gone);
    check_snapshot_order(census);
    list_each (snapshot_node, &broker->snapshots.all) {
        const struct queue_snapshot *snapshot =
            list_item(snapshot_node, struct queue_snapshot, all);

        ENSURE(at <= snapshot->at && snapshot->at <= broker->snapshots.moment);
        at = snapshot->at;
        ENSURE(!snapshot->passed || (snapshot->passed->gone && snapshot->passed->passed));
        list_each (node, &snapshot->gone) {
            const struct queue *queue = list_item(node, struct queue, in_snapshot);

            ENSURE(queue->gone && queue->came_at <= snapshot->at && snapshot->at < queue->went_at);
            census->gone--;
        }
        ENSURE(list_empty(&snapshot->unsorted) || list_linked(&snapshot->sorting));
        census->gone -= check_list(&snapshot->unsorted);
    }
    ENSURE(census->gone == 0); // freed queues, less those in a list
}

static void visit_lease(struct census *census, const struct tree_node *node, void *context)
{
    const struct job **before = context;
    const struct job *job = job_in_tree(node);

    check_job(census, job, JOB_RESERVED);
    ENSURE(!*before || (*before)->due_at < job->due_at ||
           ((*before)->due_at == job->due_at && (*before)->seq < job->seq));
    *before = job;
}

// An idle subscription has no open queue, or is brought back before the session chooses.
static void check_idle(const struct subscription *subscription)
{
    const struct queue *queue = subscription_queue(subscription);

    ENSURE(subscription->idle);
    ENSURE(!queue_open(queue) || queue->opened > subscription->session->round_robin->seen);
}

static void check_rota(const struct session *session)
{
    const struct subscription *before = NULL;
    const struct subscription *next;
    size_t count = 0;

    if (session->choice != CHOICE_IN_TURN) {
        return;
    }
    for (; (next = round_robin_next(session, before)); before = next) {
        ENSURE(!next->idle && (!before || before->turn < next->turn));
        count++;
    }
    list_each (node, &session->round_robin->idle) {
        check_idle(list_item(node, struct subscription, in_round_robin));
    }
    ENSURE(check_list(&session->round_robin->idle) == session->round_robin->idle_count);
    ENSURE(count + session->round_robin->idle_count == session->subscriptions);
}

// A subscription is linked if its session waits, except for links that a slice is still to make or
// undo.
static void check_link(const struct session *session, const struct subscription *subscription)
{
    bool linked = list_linked(&subscription->waiting);
    bool waits = session->wait_state != WAITING_NOT && !subscription->barred;

    if (!session->unlinking) {
        ENSURE(linked == waits || (!linked && session_relinks(session)));
    }
}

static void check_wide(const struct session *session)
{
    const struct session_wide *wide = session->wide ? session->extra->wide : NULL;

    ENSURE(wide || session->closed || session->subscriptions <= LINKS_IN_SLICE);
    ENSURE(!session->wide || (wide && wide->session == session));
    ENSURE(!session->unlinking || session->closed || session_relinks(session));
    ENSURE(!session_relinks(session) ||
           (!session->closed && session->subscriptions > LINKS_IN_SLICE));
    ENSURE(!session->judging || session->closed ||
           (wide && list_linked(&wide->judging.in_session)));
    ENSURE(!wide || session->judging || !(wide->lost || wide->judging.next));
    ENSURE(!wide || session_relinks(session) || !wide->linking.next);
}

static void check_subscriptions(struct census *census, const struct session *session)
{
    size_t limited = 0;
    size_t barred = 0;

    ENSURE(check_list(&session->subscribed) == session->subscriptions);
    list_each (node, &session->subscribed) {
        const struct subscription *subscription = list_item(node, struct subscription, in_session);

        ENSURE(subscription->session == session);
        ENSURE(session_find(session, subscription_queue(subscription)) == subscription);
        if (!session->closed) {
            check_link(session, subscription);
        }
        ENSURE(session->judging ||
               subscription->barred ==
                   !session_may(session, MAY_WORK, subscription_queue(subscription)));
        limited += subscription->limit_ms > 0;
        barred += subscription->barred;
    }
    ENSURE(limited == session->limited);
    ENSURE(!session->extra || barred == session->extra->barred);
    check_wide(session);
    check_rota(session);
    census->subscriptions -= session->subscriptions;
}

static void check_session(struct census *census, const struct session *session)
{
    const struct job *before = NULL;
    uint64_t held = census->jobs[JOB_RESERVED];
    bool to_tell =
        session->assigned || session->nudged || session->waited_enough || session->emptied;

    check_tree(&session->leases, census, visit_lease, &before);
    ENSURE(census->jobs[JOB_RESERVED] - held == session->lease_count);
    ENSURE(!session->assigned || session_holding(census->broker, session->assigned) == session);
    ENSURE(!session->assigned || session->wait_state == WAITING_NOT);
    ENSURE(session->closed || list_linked(&session->notice) == to_tell);
    ENSURE(!session->closed || session->wait_state == WAITING_NOT);
    ENSURE(!session->extra || check_list(&session->extra->watches) == session->extra->watch_count);
    check_subscriptions(census, session);
    census->open_sessions += !session->closed;
    census->waiting += session->wait_state != WAITING_NOT;
    census->relinking += session_relinks(session);
    census->producers += !session->closed && session->producer;
    census->workers += !session->closed && session->worker;
    census->alarms += session->alarm.at != NSEC_NEVER;
}

static void check_totals(const struct census *census)
{
    const struct broker *broker = census->broker;
    uint64_t live = 0;

    for (unsigned state = 0; state < JOB_STATES; state++) {
        ENSURE(broker->count.jobs[state] == census->jobs[state]);
        live += census->jobs[state];
    }
    for (unsigned band = 0; band < BAND_COUNT; band++) {
        ENSURE(broker->count.ready_in[band] == census->ready_in[band]);
    }
    ENSURE(id_map_count(&broker->index.jobs_by_id) == live);
    ENSURE(hash_count(&broker->index.jobs_by_key) == census->keyed - census->firsts);
    ENSURE(hash_count(&broker->index.jobs_by_name) == census->firsts);
    ENSURE(census->ringed == census->named);
    ENSURE(hash_count(&broker->index.dead_letters) == census->dead_letter);
    ENSURE(hash_count(&broker->index.queues_by_name) == census->queues);
    ENSURE(broker->count.queues == census->queues);
    ENSURE(broker->count.sessions == census->open_sessions);
    ENSURE(broker->count.waiting == census->waiting);
    ENSURE(broker->count.producers == census->producers);
    ENSURE(broker->count.workers == census->workers);
    ENSURE(census->bytes == 0);
    ENSURE(census->subscriptions == 0); // those of queues, less those of sessions
}

// The interest of a job that is gone is only in this list.
static void check_interests(const struct broker *broker)
{
    uint64_t untold = 0;

    (void)check_list(&broker->telling.interests);
    list_each (node, &broker->telling.interests) {
        const struct interest *interest = list_item(node, struct interest, in_broker);

        ENSURE(interest->broker == broker && interest->untold > 0);
        ENSURE(interest->untold == check_list(&interest->events));
        ENSURE(interest->job || list_linked(&interest->final.in_interest));
        untold += interest->untold;
    }
    ENSURE(untold == broker->telling.untold);
}

void broker_check(const struct broker *broker)
{
    struct census census = {.broker = broker};
    const struct queue *queue;
    const struct session *session;
    uint32_t cursor = 0;

    while ((queue = table_next(&broker->index.queues, &cursor))) {
        if (queue->gone) {
            census.gone++;
        } else {
            check_queue(&census, queue);
        }
    }
    cursor = 0;
    while ((session = table_next(&broker->index.sessions, &cursor))) {
        check_session(&census, session);
    }
    check_moments(&census, &broker->timers.delays[CLOCK_MONO], census.moments[CLOCK_MONO]);
    check_moments(&census, &broker->timers.delays[CLOCK_WALL], census.moments[CLOCK_WALL]);
    check_moments(&census, &broker->timers.pauses, census.pauses);
    check_moments(&census, &broker->timers.gates, census.gates);
    check_moments(&census, &broker->timers.expiries, census.expiries);
    ENSURE(broker->gates.weights == census.weights);
    check_weights(&census);
    ENSURE(broker->gates.expiring == census.expiring);
    ENSURE(census.paused == broker->paused.count &&
           census.paused == check_list(&broker->paused.by_record));
    check_moments(&census, &broker->timers.sessions, census.alarms);
    check_open_queues(&census);
    ENSURE(list_empty(&broker->matching.to_serve));
    ENSURE(check_list(&broker->matching.relinking) == census.relinking);
    check_interests(broker);
    check_snapshots(&census);
    check_memos(&census);
    check_moments(&census, &broker->memos.ends, census.memo_ends);
    check_totals(&census);
}

void broker_check_step(const struct broker *broker)
{
    static uint64_t steps; // since the last check
    uint64_t size =
        id_map_count(&broker->index.jobs_by_id) + hash_count(&broker->index.queues_by_name);

    steps++;
    if (steps * FEW_OBJECTS >= size) {
        steps = 0;
        broker_check(broker);
    }
}

bool check_policies_settled(const struct broker *broker)
{
    return !broker->policies.changed;
}

uint64_t check_retained_queues(const struct broker *broker)
{
    return broker->snapshots.retained;
}
