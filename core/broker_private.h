/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_PRIVATE_H
#define TANDEM_CORE_BROKER_PRIVATE_H

// Private to the core: the parts of the broker's own state. Each belongs to one idea, whose header
// says what it means; all are here so that none of those headers needs another.

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

// The wall clock as the broker's own calendar sees it (timers.h).
struct calendar {
    nsec_t epoch_for;   // what the calendar is ahead of the monotonic clock
    nsec_t stepped_for; // what the wall clock has been set ahead of the calendar since it began
};

// The store that keeps durable jobs (record_private.h).
struct store_link {
    const struct recorder *recorder; // NULL: there is none
    void *context;                   // handed to the recorder
    uint64_t position;               // that the answer to the present verb must wait for
};

// Numbers that rise.
struct next_numbers {
    uint64_t id;
    uint64_t seq;     // place of a job among equals
    uint64_t session; // number of a session
    uint64_t burial;  // place of a buried job
    uint64_t turn;    // the last one given: of a subscription in its session's rota
    uint32_t delay;   // order of delays that end at the same moment
};

// Where jobs, queues and sessions are found.
struct broker_index {
    struct id_map jobs_by_id;
    struct hash jobs_by_key;  // those with a key (key.h), but for
    struct hash jobs_by_name; // the first of each name
    struct hash dead_letters; // of dead letters (dead_letter.h)
    struct hash queues_by_name;
    struct queue *last_named; // the queue that was found by its name last; NULL where it has gone
    struct table queues;
    struct table sessions;
};

struct broker_counts {
    uint64_t queues, sessions; // open ones
    uint64_t waiting;          // sessions that wait for a job or for a nudge
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t producers, workers; // sessions that have submitted, that have asked for a job
    struct counts ever;
};

// Open queues (queue_private.h).
struct open_queues {
    struct tree by_bound;         // struct bound; of queues without a weight
    struct tree by_bound_weighed; // of those with one
    struct list_node in_order;    // in the order in which they became open
    uint64_t last;                // how many times a queue has become open
};

// Ready jobs and sessions that are still to meet (match.h).
struct matching {
    struct tree backlog;       // struct bound: queues whose ready jobs and waits are to meet
    struct list_node nudging;  // queues that owe nudges
    struct list_node to_serve; // sessions that lost a job that they had not been told of
    struct list_node
        relinking;        // wide sessions that begin or stop to wait (session_private.h), in turn
    uint32_t nudges_each; // nudges for one ready job; 0: for all who wait for one
    bool deferred;        // many jobs become ready: they meet the waits when all are there
};

// What broker_settle() tells (settle.c, tell.h).
struct telling {
    struct list_node sessions;  // that are to be told something
    struct list_node interests; // of jobs with events that are to be told, in turn
    uint64_t untold;            // how many events that are
    uint64_t last_event;        // number of the last event of all
};

// What work has cost and was not taken off a budget yet (charge.h).
struct charged {
    size_t links;
    size_t bytes;
};

// Trees of moments at which something falls due (timers.h).
struct timers {
    struct tree delays[CLOCKS]; // queues, by their first delay
    struct tree pauses;         // paused queues
    struct tree gates;          // of queues that their rates close, or keep
    struct tree expiries;       // of queues whose ready jobs expire
    struct tree sessions;       // sessions with a lease or a wait that ends
};

// Paused queues (queue_private.h).
struct paused_queues {
    struct list_node by_record; // in the order in which the store marked them last
    uint64_t count;
    uint64_t names_len; // bytes of their names
    uint64_t last;      // number of the pause that began last
};

// Queues that their policies may close (gate.h).
struct gates {
    struct tree by_tag, by_began; // gates with a weight whose queues are open
    uint64_t weights;             // how many gates have a weight
    uint64_t others;              // the tag of all queues without one (choice.c)
    uint64_t weighed;             // the id of the job that was chosen by tags last
    uint64_t weighed_tag;         // the one at which

    uint64_t last;             // number of the moment that was set last
    uint64_t expiring;         // queues that let jobs expire
    struct tree_node *dropped; // what was the index of queues that do not any more (expiry.h)
};

// Jobs that come back after a restart (restore.h).
struct restoring {
    struct list_node names; // jobs whose name another one holds: their namesakes' rings
    struct list_node idle;  // queues that were empty: by the node that nudges need otherwise
    struct queue *queue;    // of the last restored job
    nsec_t ended_at;        // when all were back; a long time ago where nothing came back
    bool active;            // no queue vanishes on its own until all jobs are there
    bool contents;          // ... and some whose content another one holds as its key
    bool shared;            // some name is held in several queues
};

// Lines about jobs that failed or were lost (observe.h), in the second that began at `since`.
struct loss_rate {
    nsec_t since;
    unsigned lines;
    uint64_t suppressed; // lines that were left out since the last one
};

// Private to the core: the broker's own state, put together of its parts.

struct broker {
    struct instant now;
    struct siphash_key key; // of the hashes of names and keys
    struct slab slab;       // jobs, sessions and what belongs to them
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
    struct queue_times times; // of all queues that there ever were
    struct list_node closing; // closed sessions that are not taken apart yet
    uint64_t max_queues;      // 0: any number
    bool draining;
    bool rare;      // there have been rules or memos: what these need is looked at (tick.c)
    bool observing; // times are counted (observe.h)
    bool retired;   // the process ends: jobs that are lost cost nothing
    bool settling;  // callbacks run: no verb may be called
};

#endif
