/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MODEL_BROKER_PRIVATE_H
#define TANDEM_CORE_MODEL_BROKER_PRIVATE_H

// Private to the core: the broker's own state, in parts. Each part belongs to one idea, whose
// header says what it means; all parts are here so that none of those headers needs another.

#include "core/base/hash.h"
#include "core/base/id_map.h"
#include "core/base/list.h"
#include "core/base/slab.h"
#include "core/base/table.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/model/moment.h"

// The wall clock as the broker's own calendar sees it (calendar.h).
struct calendar {
    nsec_t epoch_for;   // what the calendar is ahead of the monotonic clock
    nsec_t stepped_for; // what the wall clock has been set ahead of the calendar since it began
};

// The store that keeps durable jobs (store.h).
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
    struct hash queues_by_name;
    struct table queues;
    struct table sessions;
};

struct broker_counts {
    uint64_t queues;
    uint64_t sessions; // open ones
    uint64_t waiting;  // sessions that wait for a job or for a nudge
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t total_jobs; // ever accepted
    uint64_t timeouts;   // leases that ended by time
};

// Open queues (open_queues.h).
struct open_queues {
    struct tree by_bound;      // struct bound
    struct list_node in_order; // in the order in which they became open
    uint64_t last;             // how many times a queue has become open
};

// Ready jobs and sessions that are still to meet (match.h).
struct matching {
    struct list_node backlog;  // queues whose ready jobs and waits are still to meet
    struct list_node nudging;  // queues that owe nudges
    struct list_node to_serve; // sessions that lost a job that they had not been told of
    uint32_t nudges_each;      // nudges for one ready job; 0: for all who wait for one
    bool deferred;             // many jobs become ready: they meet the waits when all are there
};

// What broker_settle() tells (settle.c, tell.h).
struct telling {
    struct list_node sessions;    // that are to be told something
    struct list_node events;      // of jobs, in the order in which they happened
    struct list_node slow_events; // the first of each job that takes long to tell, in turn
    uint64_t untold[2];           // how many events: of other jobs, and of those that take long
    uint64_t last_event;          // number of the last event of all
};

// What work has cost and was not taken off a budget yet (charge.h).
struct charged {
    size_t links;
    size_t bytes;
};

// Trees of moments at which something falls due (moment.h).
struct timers {
    struct tree delays[CLOCKS]; // queues, by their first delay
    struct tree pauses;         // paused queues
    struct tree sessions;       // sessions with a lease or a wait that ends
};

// Paused queues (pause.h).
struct paused_queues {
    struct list_node by_record; // in the order in which the store marked them last
    uint64_t count;
    uint64_t names_len; // bytes of their names
    uint64_t last;      // number of the pause that began last
};

// Jobs that come back after a restart (restore.h).
struct restoring {
    struct list_node names; // jobs that held a name: their namesakes' rings
    struct queue *queue;    // of the last restored job
    bool active;            // queues stay until all jobs are there
    bool contents;          // some jobs held their content as a key
};

// How many lines about jobs that fail or are lost there were (loss.h) in the second that began at
// `since`.
struct loss_rate {
    nsec_t since;
    unsigned lines;
    uint64_t suppressed; // lines that were left out since the last one
};

struct broker {
    struct instant now;
    uint64_t secret;
    struct slab slab; // jobs, sessions and what belongs to them
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
    struct restoring restoring;
    struct loss_rate loss_rate;
    struct list_node closing; // closed sessions that are not taken apart yet
    bool draining;
    bool retired;  // the process ends: no pause ends with its queue
    bool settling; // callbacks run: no verb may be called
};

#endif
