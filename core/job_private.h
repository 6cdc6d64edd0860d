/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_JOB_PRIVATE_H
#define TANDEM_CORE_JOB_PRIVATE_H

// Private to the core: a job in memory, and the ways from a job to its queue and its holder.
//
// A job is one allocation: a header of 76 bytes, since there may be millions, with the body behind
// it, or a pointer to a large body. Properties that few jobs have (a key, a reducer, watches,
// progress, counters above zero) are in blocks of their own.
//
// A job is in exactly one scheduling container, that of its state:
//   READY     its queue's tree `ready`, by (pri, seq)
//   DELAYED   its queue's tree `delayed` of the clock of its moment, by (due, order)
//   RESERVED  its holder's tree `leases`, by (due, seq)
//   BURIED    its queue's list `buried`, in the order of the burials
// and in the index by id. A job with a key, unless it is buried, is also in the index by key, or,
// if it is the first job with its name, in the index by name, with the others in a ring behind it.
// Only job_state.c moves jobs between the containers of the states, so that the counts beside these
// stay correct.

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/broker_private.h"
#include "core/session_private.h"
#include "core/timers.h"

#include <stdint.h>

// Bodies up to this long stand behind the header.
#define JOB_INLINE_MAX 2048
// The body_len of a body in a blob.
#define JOB_BODY_LARGE 0xfff
#define JOB_COUNT_MAX ((1u << 20) - 1)
#define JOB_SEQ_MAX ((UINT64_C(1) << 48) - 1)

struct interest;

// An entry in the ring of the jobs that hold the same name, each in a queue of its own, in the
// order in which they claimed it. The first of them is in the index by name. Only jobs with a name
// have this part, right before their struct job_extra.
struct namesake {
    struct list_node ring;
};

// The rare part of a job. The fields that a search for a key reads come first, those of the index
// by name before all others, to be in one cache line.
struct job_extra {
    struct hash_node by_key; // in the index by name, if `first`
    uint32_t name_hash;      // KEY_NAME: of the name alone
    uint16_t key_len;        // KEY_NAME
    uint8_t key_kind;        // enum key_kind
    bool keyed;              // it holds its key
    uint64_t key_hash;
    struct job *job;
    struct interest *interest; // watches and progress; NULL for none
    nsec_t limit_at;           // the end of a lease with a limit; 0 for none
    uint32_t reserves;         // the part of the count beyond the header's
    uint32_t delay;            // as last given, seconds
    uint64_t timeouts : 20, releases : 20, buries : 20, kicks : 20; // up to JOB_COUNT_MAX
    uint64_t begun_us : 44; // RESERVED, if `begun`: when the lease began, monotonic
    uint16_t max_attempts;
    uint16_t reducer_len;
    bool first; // of its namesakes
    bool fail_on_limit;
    bool data_reported : 1;              // data was reported in the present attempt
    bool data_lost : 1, result_lost : 1; // a part of it is missing for watches, for the kept result
    bool begun : 1;                      // begun_us is set
    bool claims : 1;        // restored: another job holds its key until all jobs are restored
    bool lease_durable : 1; // RESERVED: the store has a record of the lease (durable_lease.h)
    char names[];           // the key, then the reducer
};

// The fields that a search in a tree reads are adjacent, those of ready jobs first: with millions
// of jobs, each cache line counts.
struct job {
    uint64_t id;
    union {
        struct tree_node tree;
        struct list_node list;
    } place;
    uint64_t seq : 48;      // its place among equals
    uint64_t body_len : 12; // of a body behind the header; JOB_BODY_LARGE: the body is a blob
    uint64_t reserves : 4;  // the lowest part of the count
    uint32_t pri;
    uint32_t queue; // place in the broker's table of queues
    union {
        nsec_t due_at; // DELAYED: of its clock; RESERVED: end of the lease, monotonic
        uint64_t
            last_holder; // READY: the session that may still complete it after a time-out; 0: none
        uint64_t burial; // BURIED: rising along the list
    };
    struct job_extra *extra;
    union {
        uint32_t holder; // RESERVED: place in the broker's table of sessions
        uint32_t order;  // DELAYED: among delays that end at the same moment, the first set first
        uint32_t ready_at_step; // READY: since when (observe.h)
    };
    uint32_t ttr;             // seconds; 0: none
    uint64_t created_ms : 42; // by the broker's calendar; enough until 2109
    uint64_t attempts : 10;
    uint64_t state : 3; // enum job_state
    uint64_t on_fail : 1;
    uint64_t on_loss : 1;
    uint64_t durable : 1;
    uint64_t data_unkept : 1; // the present attempt has reported data that were not kept
    // The meaning of the next two depends on the state; job_enter_state() and lease_begin() set
    // them.
    uint64_t on_wall_or_undelivered : 1; // DELAYED: due_at is a moment of the wall clock
                                         // RESERVED: its holder has not been told (session.h)
    uint64_t imposed_or_by_id : 1;       // DELAYED: no submitter asked for this wait (submit.h)
                                         // RESERVED: taken by id, not by a subscription
    uint64_t abandoned : 1;              // not durable, and its last watcher has left
    uint64_t renewed : 1;                // RESERVED: its time to run was started again
    uint64_t dead_letter : 1;            // it is a dead letter (dead_letter.h)
    uint32_t mark;                       // the store's
    char body[];
};

_Static_assert(sizeof(struct job_extra) == 80, "the rare part of a job has outgrown its 80 bytes");
_Static_assert(offsetof(struct job, body) == 76, "the header of a job has outgrown its 76 bytes");
_Static_assert(JOB_INLINE_MAX < JOB_BODY_LARGE, "body_len must be able to say it");
_Static_assert(JOB_ATTEMPTS_MAX < 1 << 10, "attempts must be able to say it");

// A job with that contract, in no container and no index yet; NULL without memory.
struct job *job_new(struct broker *broker, const struct job_spec *spec) MUST_USE;

// Frees a job that is in no container and no index, and has no interest.
void job_free(struct broker *broker, struct job *job);

// The rare part, allocated if it is missing; NULL without memory.
struct job_extra *job_extra(struct broker *broker, struct job *job);

// Increments a counter that only statistics read; without memory, it does not.
void job_count_reserve(struct broker *broker, struct job *job);
#define JOB_COUNT(broker, job, counter)                                                            \
    do {                                                                                           \
        struct job_extra *counted = job_extra(broker, job);                                        \
        if (counted && counted->counter < JOB_COUNT_MAX) {                                         \
            counted->counter++;                                                                    \
        }                                                                                          \
    } while (0)

// Uncounts a lease of which its holder was never told.
void job_uncount_reserve(struct job *job);

// Stores the delay as last given, for statistics.
void job_set_delay(struct broker *broker, struct job *job, nsec_t delay_for);

static inline struct job *job_in_tree(const struct tree_node *node)
{
    return node ? container_of((struct tree_node *)(uintptr_t)node, struct job, place.tree) : NULL;
}

static inline struct job *job_in_list(const struct list_node *node)
{
    return container_of((struct list_node *)(uintptr_t)node, struct job, place.list);
}

// Of a job with a name.
static inline struct namesake *job_namesake(struct job_extra *extra)
{
    return (struct namesake *)(void *)extra - 1;
}

static inline struct job_extra *job_of_namesake(struct namesake *namesake)
{
    return (struct job_extra *)(void *)(namesake + 1);
}

// True if its lease timed out and no session has taken it since: its last holder may still report
// about it and complete it. For its watches, the attempt continues.
static inline bool job_expired(const struct job *job)
{
    return job->state == JOB_READY && job->last_holder != 0;
}

static inline bool job_is_large(const struct job *job)
{
    return job->body_len == JOB_BODY_LARGE;
}

static inline bool job_due_on_wall(const struct job *job)
{
    return job->state == JOB_DELAYED && job->on_wall_or_undelivered;
}

static inline bool job_wait_imposed(const struct job *job)
{
    return job->state == JOB_DELAYED && job->imposed_or_by_id;
}

static inline bool job_undelivered(const struct job *job)
{
    return job->state == JOB_RESERVED && job->on_wall_or_undelivered;
}

static inline bool job_taken_by_id(const struct job *job)
{
    return job->state == JOB_RESERVED && job->imposed_or_by_id;
}

static inline struct interest *job_interest(const struct job *job)
{
    return job->extra ? job->extra->interest : NULL;
}

// A job refers to its queue and its holder by their places in the broker's tables.

static inline struct queue *queue_at(const struct broker *broker, const struct job *job)
{
    return table_get(&broker->index.queues, job->queue);
}

// The session that holds the job; NULL if it is not RESERVED.
static inline struct session *session_holding(const struct broker *broker, const struct job *job)
{
    return job->state == JOB_RESERVED ? table_get(&broker->index.sessions, job->holder) : NULL;
}

// The job of that id, NULL for none.
static inline struct job *broker_job(const struct broker *broker, uint64_t id)
{
    return id_map_find(&broker->index.jobs_by_id, id);
}

// The job of that id if this session holds it, else NULL.
static inline struct job *broker_held_job(const struct session *session, uint64_t id)
{
    struct job *job = broker_job(session->broker, id);

    return job && session_holding(session->broker, job) == session ? job : NULL;
}

#endif
