/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_PRIVATE_H
#define TANDEM_CORE_BROKER_PRIVATE_H

// Private to the core: the state of the broker. Each part belongs to one concept, whose header
// explains it; all parts are here so that those headers need not include each other.

#include "core/base/hash.h"
#include "core/base/id_map.h"
#include "core/base/list.h"
#include "core/base/siphash.h"
#include "core/base/slab.h"
#include "core/base/table.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/memo_private.h"
#include "core/policy_private.h"
#include "core/queue_private.h"
#include "core/timers.h"

#include <stdbool.h>
#include <stdint.h>

// The broker's calendar (timers.h).
struct calendar {
    nsec_t epoch_for;   // lead of the calendar over the monotonic clock
    nsec_t stepped_for; // lead of the wall clock over the calendar, since it was set
};

// The store that keeps durable jobs (record_private.h).
struct store_link {
    const struct recorder *recorder; // NULL: no store
    void *context;                   // the argument of the recorder's functions
    uint64_t position;               // for which the answer to the present verb waits
};

// Rising numbers.
struct next_numbers {
    uint64_t id;
    uint64_t seq;     // place of a job among equals
    uint64_t session; // number of a session
    uint64_t burial;  // place of a buried job
    uint64_t turn;    // last turn of a subscription in a round robin
    uint32_t delay;   // order of delays that end at the same moment
};

// The indexes of jobs, queues and sessions.
struct broker_index {
    struct id_map jobs_by_id;
    struct hash jobs_by_key;  // jobs with a key (key.h), without those in jobs_by_name
    struct hash jobs_by_name; // the first job of each name
    struct hash dead_letters; // of their records (dead_letter_private.h)
    struct hash queues_by_name;
    struct queue *last_named; // the queue that was found by its name last; NULL if it was removed
    struct table queues;
    struct table sessions;
};

struct broker_counts {
    uint64_t queues, sessions; // open ones
    uint64_t waiting;          // sessions that wait for a job or for a nudge
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t producers, workers; // sessions that have submitted; ... asked for a job
    struct counts ever;
};

// Open queues (queue_private.h).
struct open_queues {
    struct tree by_bound;         // struct bound; of queues without a weight
    struct tree by_bound_weighed; // of those with one
    struct list_node in_order;    // in the order in which they became open
    uint64_t last;                // number of times that a queue became open
};

// Ready jobs that are still to be assigned (match.h).
struct matching {
    struct tree backlog;       // struct bound: queues with ready jobs and waiting sessions
    struct list_node nudging;  // queues that owe nudges
    struct list_node to_serve; // sessions that lost a job before they were told of it
    struct list_node
        relinking;        // wide sessions that begin or stop to wait (session_private.h), in turn
    uint32_t nudges_each; // nudges for one ready job; 0: all sessions that wait for one
    bool deferred;        // many jobs become ready: they are assigned when all are ready
};

// Notices for broker_settle() to tell.
struct telling {
    struct list_node sessions;  // with a notice
    struct list_node interests; // of jobs with pending events, in turn
    uint64_t untold;            // number of pending events
    uint64_t last_event;        // number of the last event of all
};

// Costs that were not subtracted from a budget yet (charge.h).
struct charged {
    size_t links;
    size_t bytes;
};

// Trees of timers (timers.h).
struct timers {
    struct tree delays[CLOCKS]; // queues, by their first delay
    struct tree pauses;         // paused queues
    struct tree gates;          // of queues that their rates close, or retain
    struct tree expiries;       // of queues whose ready jobs expire
    struct tree sessions;       // sessions with a lease or a wait that ends
};

// Paused queues (queue_private.h).
struct paused_queues {
    struct list_node by_record; // in the order in which the store set the marks
    uint64_t count;
    uint64_t names_len; // bytes of their names
    uint64_t last;      // number of the pause that began last
};

// Queues that their policies may close (gate.h).
struct gates {
    struct tree by_tag, by_began; // gates with a weight whose queues are open
    uint64_t weights;             // number of gates with a weight
    uint64_t others;              // the tag of all queues without a weight (choice.c)
    uint64_t weighed;             // id of the job that was chosen by tags last
    uint64_t weighed_tag;         // the tag of that choice

    uint64_t last;             // number of the timer that was set last
    uint64_t expiring;         // queues that let jobs expire
    struct tree_node *dropped; // the indexes of queues that ceased to (expiry.h)
};

// Jobs that are restored after a restart (core/restore.h).
struct restoring {
    struct list_node names; // jobs whose name another job holds: their namesakes' rings
    struct list_node idle;  // queues that were empty: by the node for nudges
    struct queue *queue;    // of the last restored job
    nsec_t ended_at;        // when all were restored; in the distant past if none were
    bool active;            // queues are not removed until all jobs are restored
    bool contents;          // ... and some whose content another job holds as its key
    bool shared;            // some name is held in several queues
};

// Log lines about failed and lost jobs (observe.h) in the second that began at `since`.
struct loss_rate {
    nsec_t since;
    unsigned lines;
    uint64_t suppressed; // lines omitted since the last one
};

struct broker {
    struct instant now;
    struct siphash_key key; // of the hashes of names and keys
    struct slab slab;       // jobs, sessions and their parts
    struct calendar calendar;
    struct store_link store;
    struct next_numbers next;
    struct broker_index index;
    struct broker_counts count;
    struct open_queues open;
    struct matching matching;
    struct telling telling;
    struct charged charge;
    struct timers timers;
    struct paused_queues paused;
    struct policies policies;
    struct gates gates;
    struct memos memos;
    struct restoring restoring;
    struct queue_snapshots snapshots;
    struct loss_rate loss_rate;
    struct queue_times times; // of all queues since the broker began
    struct list_node closing; // closed sessions that still have something to free
    uint64_t max_queues;      // 0: no limit
    bool draining;
    bool rare;      // there have been rules or memos: ticks look at their work, too
    bool observing; // times are counted (observe.h)
    bool retired;   // the process ends: lost jobs spend no attempt
    bool settling;  // callbacks run: no verb may be called
};

#endif
