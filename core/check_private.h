/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CHECK_PRIVATE_H
#define TANDEM_CORE_CHECK_PRIVATE_H

// Private to the core: the parts of broker_check(). Each walks objects of one kind, compares them
// with what their headers state, and counts what it comes by; in the end, the counts are compared
// with those of the broker.

#include "core/broker.h"
#include "core/moment.h"

struct list_node;
struct tree;
struct tree_node;

// What the walk has counted so far.
struct tally {
    const struct broker *broker;
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t bytes; // of bodies of jobs that are not buried, less what their queues say
    uint64_t queues;
    uint64_t keyed;
    uint64_t named;  // jobs that hold a name
    uint64_t firsts; // of a name
    uint64_t ringed; // jobs in the rings of those
    uint64_t noted;  // jobs with a past
    uint64_t working;
    uint64_t open_sessions;
    uint64_t waiting;   // sessions that wait
    uint64_t relinking; // wide sessions that have links to make or undo
    uint64_t producers, workers;
    uint64_t subscriptions;
    uint64_t moments[CLOCKS];
    uint64_t pauses;
    uint64_t paused;
    uint64_t gates; // those with a moment
    uint64_t expiring, expiries, weights, weighing;
    uint64_t alarms;
    uint64_t gone; // queues of which there is only the name
    uint64_t memos;
    uint64_t memo_ends; // of those that end at some time
};

// Told of a node of a tree.
typedef void (*check_visit)(struct tally *tally, const struct tree_node *node, void *context);

// Visits the nodes of a tree in order, and checks its shape.
void check_tree(const struct tree *tree, struct tally *tally, check_visit visit_node,
                void *context);

// How many nodes the list has; checks its links.
size_t check_list(const struct list_node *list);

// A job that is in the container of that state.
void check_job(struct tally *tally, const struct job *job, enum job_state state);

// A queue, and the jobs in it that nobody holds.
void check_queue(struct tally *tally, const struct queue *queue);

// The index of open queues.
void check_open_queues(struct tally *tally);
void check_weights(struct tally *tally);

// The rolls, and the queues that have gone.
void check_rolls(struct tally *tally);

// The memos.
void check_memos(struct tally *tally);

// A session, its subscriptions and the jobs that it holds.
void check_session(struct tally *tally, const struct session *session);

#endif
