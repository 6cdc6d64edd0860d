/* SPDX-License-Identifier: MIT */

// Only this file puts jobs into the containers of their states and takes them out, and keeps the
// counts beside the containers.

#include "core/job_state.h"

#include "core/expiry.h"
#include "core/gate.h"
#include "core/observe.h"
#include "core/queue_private.h"
#include "core/session_private.h"

static bool job_ready_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct job *x = job_in_tree(a);
    const struct job *y = job_in_tree(b);

    return x->pri != y->pri ? x->pri < y->pri : x->seq < y->seq;
}

// Equal delays that are set in one turn end at one moment, in the order in which they were set.
// (The number wraps after 2^32 delays; jobs of one moment and one number go by their places among
// equals.)
static bool job_delay_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct job *x = job_in_tree(a);
    const struct job *y = job_in_tree(b);

    if (x->due_at != y->due_at || x->order == y->order) {
        return x->due_at != y->due_at ? x->due_at < y->due_at : x->seq < y->seq;
    }
    return x->order < y->order;
}

static bool job_lease_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct job *x = job_in_tree(a);
    const struct job *y = job_in_tree(b);

    return x->due_at != y->due_at ? x->due_at < y->due_at : x->seq < y->seq;
}

// A store may have two jobs of one number: they go by their ids.
static bool job_burial_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct job *x = job_in_tree(a);
    const struct job *y = job_in_tree(b);

    return x->burial != y->burial ? x->burial < y->burial : x->id < y->id;
}

struct job *queue_ready_after(const struct queue *queue, uint32_t pri, uint64_t seq)
{
    struct job probe = {.pri = pri, .seq = seq & JOB_SEQ_MAX};

    return job_in_tree(tree_after(&queue->ready, &probe.place.tree, job_ready_before));
}

struct job *queue_ready_before(const struct queue *queue, uint32_t pri)
{
    const struct tree_node *found = NULL;

    for (const struct tree_node *node = queue->ready.root; node;) {
        bool before = job_in_tree(node)->pri < pri;

        found = before ? node : found;
        node = before ? node->right : node->left;
    }
    return job_in_tree(found);
}

static struct job *job_last_in_tree(const struct tree *tree)
{
    const struct tree_node *node = tree->root;

    while (node && node->right) {
        node = node->right;
    }
    return job_in_tree(node);
}

struct job *queue_ready_last(const struct queue *queue)
{
    return job_last_in_tree(&queue->ready);
}

struct job *queue_delayed_last(const struct queue *queue, enum clock clock)
{
    return job_last_in_tree(&queue->delayed[clock]);
}

struct job *queue_delayed_after(const struct queue *queue, enum clock clock,
                                const struct delay_place *place)
{
    struct job probe = {
        .due_at = place->due_at, .order = place->order, .seq = place->seq & JOB_SEQ_MAX};

    return job_in_tree(tree_after(&queue->delayed[clock], &probe.place.tree, job_delay_before));
}

struct job *session_lease_after(const struct session *session, nsec_t due_at, uint64_t seq)
{
    struct job probe = {.due_at = due_at, .seq = seq & JOB_SEQ_MAX};

    return job_in_tree(tree_after(&session->leases, &probe.place.tree, job_lease_before));
}

struct job *session_lease_before(const struct session *session, nsec_t due_at, uint64_t seq)
{
    struct job probe = {.due_at = due_at, .seq = seq & JOB_SEQ_MAX};
    const struct tree_node *found = NULL;

    for (const struct tree_node *node = session->leases.root; node;) {
        bool before = job_lease_before(node, &probe.place.tree);

        found = before ? node : found;
        node = before ? node->right : node->left;
    }
    return job_in_tree(found);
}

static size_t job_body_bytes(const struct job *job)
{
    return job_is_large(job) ? job_body(job).len : job->body_len;
}

static void job_leave_reserved(struct broker *broker, struct job *job)
{
    struct session *session = session_holding(broker, job);

    ENSURE(session);
    tree_remove(&session->leases, &job->place.tree, job_lease_before);
    session->lease_count--;
    if (session->closed) {
        return;
    }
    session_rearm(session);
    if (session->lease_count == 0 && session->ops->emptied) {
        session->emptied = true;
        session_notify(session);
    }
}

// Rotates the tree until its first node is at the top, and takes that out.
void queue_end_return(struct queue *queue)
{
    struct tree_node *node = queue->returning.root;

    list_init(&queue->buried);
    while (node) {
        struct tree_node *left = node->left;
        struct tree_node *right = node->right;

        if (left) {
            node->left = left->right;
            left->right = node;
            node = left;
        } else {
            list_append(&queue->buried, &job_in_tree(node)->place.list);
            node = right;
        }
    }
}

static void job_leave_state(struct broker *broker, struct queue *queue, struct job *job)
{
    enum clock clock = job_due_on_wall(job) ? CLOCK_WALL : CLOCK_MONO;
    enum job_state state = (enum job_state)job->state;

    switch (state) {
    case JOB_READY:
        tree_remove_late(&queue->ready, &queue->ready_end, &job->place.tree, job_ready_before);
        queue->ready_in[band_of(job->pri)]--;
        broker->count.ready_in[band_of(job->pri)]--;
        if (tree_empty(&queue->ready)) {
            open_queue_review(broker, queue);
        }
        break;
    case JOB_DELAYED:
        tree_remove(&queue->delayed[clock], &job->place.tree, job_delay_before);
        queue_rearm(broker, queue, clock);
        break;
    case JOB_RESERVED:
        job_leave_reserved(broker, job);
        break;
    case JOB_BURIED:
        if (broker->restoring.active) {
            tree_remove(&queue->returning, &job->place.tree, job_burial_before);
        } else {
            list_remove(&job->place.list);
        }
        queue->bytes += job_body_bytes(job);
        break;
    case JOB_GONE:
        return;
    }
    queue->jobs[state]--;
    broker->count.jobs[state]--;
}

static void job_enter_ready(struct broker *broker, struct queue *queue, struct job *job)
{
    tree_insert_late(&queue->ready, &queue->ready_end, &job->place.tree, job_ready_before);
    queue->ready_in[band_of(job->pri)]++;
    broker->count.ready_in[band_of(job->pri)]++;
    if (tree_first(&queue->ready) == &job->place.tree) {
        // A job behind another one does not change the best job of the queue.
        open_queue_review(broker, queue);
    }
}

static void job_enter_state(struct broker *broker, struct queue *queue, struct job *job,
                            const struct job_place *to)
{
    enum clock clock = to->on_wall ? CLOCK_WALL : CLOCK_MONO;

    job->state = to->state & 7;
    job->pri = to->pri;
    if (to->to_back) {
        job->seq = broker->next.seq++ & JOB_SEQ_MAX;
    }
    switch (to->state) {
    case JOB_READY:
        job->last_holder = to->last_holder;
        job->ready_at_step = wait_step(broker->now.mono);
        job_enter_ready(broker, queue, job);
        break;
    case JOB_DELAYED:
        job->on_wall_or_undelivered = to->on_wall;
        job->due_at = to->due_at;
        job->imposed_or_by_id = to->imposed;
        job->order = broker->next.delay++;
        tree_insert(&queue->delayed[clock], &job->place.tree, job_delay_before);
        queue_rearm(broker, queue, clock);
        break;
    case JOB_RESERVED:
        ENSURE(to->holder);
        job->on_wall_or_undelivered = false;
        job->due_at = to->due_at;
        job->holder = to->holder->place;
        tree_insert(&to->holder->leases, &job->place.tree, job_lease_before);
        to->holder->lease_count++;
        session_rearm(to->holder);
        break;
    case JOB_BURIED:
        job->burial = to->burial ? to->burial : broker->next.burial++;
        // Buried jobs are restored in no order, and kept in order by a tree meanwhile, since
        // sorting a million of them at the end takes seconds.
        if (broker->restoring.active) {
            tree_insert(&queue->returning, &job->place.tree, job_burial_before);
        } else {
            list_append(&queue->buried, &job->place.list);
        }
        queue->bytes -= job_body_bytes(job);
        break;
    case JOB_GONE:
        UNREACHABLE();
    }
    queue->jobs[to->state]++;
    broker->count.jobs[to->state]++;
}

// Applies the policy of a queue with a gate after a job has entered a state.
static APART void job_review_gate(struct broker *broker, struct queue *queue, struct job *job)
{
    gate_review(broker, queue);
    if (job->state == JOB_READY && queue_expires(queue)) {
        expiry_add(broker, queue, job);
    }
}

// The same for a job that has left the container of its state, which is not changed yet.
static void job_review_expiry(struct broker *broker, struct queue *queue, const struct job *job)
{
    if (job->state == JOB_READY && queue_expires(queue)) {
        expiry_remove(broker, queue, job);
    }
}

static APART void job_enter_gated(struct broker *broker, struct queue *queue, struct job *job,
                                  const struct job_place *to)
{
    job_review_expiry(broker, queue, job);
    job_enter_state(broker, queue, job, to);
    job_review_gate(broker, queue, job);
}

void job_begin(struct broker *broker, struct job *job, const struct job_place *to)
{
    struct queue *queue = queue_at(broker, job);

    id_map_insert(&broker->index.jobs_by_id, job->id, job);
    queue->bytes += job_body_bytes(job);
    job_enter_state(broker, queue, job, to);
    if (queue->gate) {
        job_review_gate(broker, queue, job);
    }
}

// A session that was assigned the job, but not told of it yet, must be served again.
static void job_leave_uninformed_holder(struct broker *broker, struct job *job)
{
    struct session *session = session_holding(broker, job);

    if (!session || session->assigned != job) {
        return;
    }
    session->assigned = NULL;
    if (!session->closed) {
        list_remove(&session->notice);
        list_append(&broker->matching.to_serve, &session->notice);
    }
}

void job_move(struct broker *broker, struct job *job, const struct job_place *to)
{
    struct queue *queue = queue_at(broker, job);

    if (to->state != JOB_RESERVED || to->holder != session_holding(broker, job)) {
        job_leave_uninformed_holder(broker, job);
        if (job->extra) {
            job->extra->limit_at = 0;
        }
    }
    job_leave_state(broker, queue, job);
    if (queue->gate) {
        job_enter_gated(broker, queue, job, to);
    } else {
        job_enter_state(broker, queue, job, to);
    }
}

void job_set_pri(struct broker *broker, struct job *job, uint32_t pri)
{
    struct job_place ready = {.state = JOB_READY, .pri = pri};

    if (job->state == JOB_READY) {
        uint32_t since = job->ready_at_step;

        ready.last_holder = job->last_holder;
        job_move(broker, job, &ready);
        expiry_set_since(broker, queue_at(broker, job), job, since);
    } else {
        job->pri = pri; // no container is ordered by it
    }
}

void job_give_up_bound(struct broker *broker, struct queue *queue, uint64_t seq)
{
    if (queue->bound.in && queue->bound.seq == seq) {
        open_queue_set_bound(broker, &queue->bound, job_in_tree(tree_first(&queue->ready)));
    }
}

void job_transfer(struct broker *broker, struct job *job, struct queue *to)
{
    struct queue *from = queue_at(broker, job);
    uint32_t since = job->ready_at_step;
    const struct job_place place = {
        .state = (enum job_state)job->state,
        .pri = job->pri,
        .due_at = job->due_at,
        .on_wall = job_due_on_wall(job),
        .imposed = job_wait_imposed(job),
        .last_holder = job->last_holder,
    };

    ENSURE(place.state != JOB_RESERVED);
    job_leave_state(broker, from, job);
    job_give_up_bound(broker, from, job->seq);
    if (from->gate) {
        job_review_expiry(broker, from, job);
        gate_review(broker, from); // before the other gate gets the job's place
    }
    from->bytes -= job_body_bytes(job);
    to->bytes += job_body_bytes(job);
    job->queue = to->place;
    job_enter_state(broker, to, job, &place);
    if (place.state == JOB_READY && !queue_expires(to)) {
        job->ready_at_step = since; // in a queue with expiry, the wait of a moved job starts again
    }
    if (to->gate) {
        job_review_gate(broker, to, job);
    }
}

void job_leave(struct broker *broker, struct job *job)
{
    struct queue *queue = queue_at(broker, job);

    job_leave_uninformed_holder(broker, job);
    job_leave_state(broker, queue, job);
    queue->bytes -= job_body_bytes(job);
    if (queue->gate) {
        job_review_expiry(broker, queue, job);
        gate_review(broker, queue);
    }
    id_map_remove(&broker->index.jobs_by_id, job->id);
}

struct job_place job_ready_place(const struct job *job)
{
    return (struct job_place){.state = JOB_READY, .pri = job->pri};
}
