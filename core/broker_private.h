/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_PRIVATE_H
#define TANDEM_CORE_BROKER_PRIVATE_H

// Private to the core: the broker's own state.

#include "core/broker.h"
#include "core/base/hash.h"
#include "core/base/id_map.h"
#include "core/base/list.h"
#include "core/base/slab.h"
#include "core/base/table.h"
#include "core/base/tree.h"
#include "core/moment.h"

// How many lines about jobs that fail or are lost there were in the second that began at `since`.
#define LOSS_LINES_MAX 10
struct loss_rate {
    nsec_t since;
    unsigned lines;
    uint64_t unsaid; // lines that there were not since the last one
};

struct broker {
    struct instant now;
    nsec_t epoch_for;   // what the broker's own calendar is ahead of the monotonic clock
    nsec_t stepped_for; // what the wall clock has been set ahead of that calendar since it began
    const struct recorder *recorder;
    void *store;
    uint64_t secret;
    uint64_t next_id;
    uint64_t next_seq;
    uint64_t next_session;
    uint64_t last_turn;
    uint64_t next_burial;
    uint64_t position; // of the store, that the answer to the present verb must wait for
    uint64_t last_event;
    uint64_t last_opening;
    uint64_t last_pause;
    size_t bill;         // queues and subscriptions that were come by and not paid for yet
    size_t encoded;      // bytes that callbacks have made and that were not paid for yet
    uint32_t next_order; // of delays
    uint32_t wakeup;     // naps that one ready job ends; 0: all
    struct loss_rate loss_rate;
    bool draining;
    bool retired;           // the process ends: no pause ends with its queue
    bool settling;          // callbacks run: no verb may be called
    bool gathering;         // jobs come back in numbers: they meet the waits when all are there
    bool restoring;         // jobs come back after a restart: queues stay until all are there
    bool restored_contents; // some of these held their content as a key

    struct slab slab; // jobs, sessions and what belongs to them
    struct id_map jobs_by_id;
    struct hash jobs_by_key;  // those with a key, but for
    struct hash jobs_by_name; // the first of each name
    struct hash queues_by_name;
    struct table queues;
    struct table sessions;
    uint64_t queue_count;
    uint64_t session_count; // open ones
    uint64_t waiting;       // sessions that wait or nap

    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t total_jobs;
    uint64_t timeouts;

    struct tree work;           // open queues by the bounds of their best jobs
    struct list_node openings;  // open queues, in the order in which they became open
    struct list_node matching;  // queues whose ready jobs and waits are still to meet
    struct list_node nudging;   // queues that owe nudges
    struct list_node to_serve;  // sessions that lost a job that they had not been told of
    struct list_node notices;   // sessions that are to be told
    struct list_node news;      // events that are still to be told, in their order
    struct list_node long_news; // those that take long, in turn
    uint64_t untold[2];         // how many: of jobs that are not set aside, and that are
    struct list_node closing;   // closed sessions that are not taken apart yet

    struct list_node claims;     // restored jobs that held a name (their namesakes' rings)
    struct queue *restored_into; // the queue of the last restored job

    struct tree due_queues[CLOCKS]; // by their first delay
    struct tree pauses;             // paused queues
    struct list_node recorded;      // the same, by when the store marked them last
    uint64_t paused;                // how many
    uint64_t paused_names;          // bytes of their names
    struct tree alarms;             // sessions with a lease or a wait that ends
};

#endif
