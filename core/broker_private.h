/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_PRIVATE_H
#define TANDEM_CORE_BROKER_PRIVATE_H

// Private to the core: the broker's own state, and the steps that its verbs share.

#include "core/broker.h"
#include "core/base/hash.h"
#include "core/base/id_map.h"
#include "core/job.h"
#include "core/base/list.h"
#include "core/queue.h"
#include "core/session.h"
#include "core/base/slab.h"
#include "core/base/table.h"
#include "core/base/tree.h"
#include "core/watch.h"

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

// Puts the moment into the tree, moves it there, or (NSEC_NEVER) takes it out.
void moment_set(struct tree *tree, struct moment *moment, nsec_t at, uint64_t rank);

static inline struct moment *moment_first(const struct tree *tree)
{
    struct tree_node *node = tree_first(tree);

    return node ? container_of(node, struct moment, node) : NULL;
}

static inline struct queue *queue_at(const struct broker *broker, const struct job *job)
{
    return table_get(&broker->queues, job->queue);
}

static inline struct session *holder_of(const struct broker *broker, const struct job *job)
{
    return job->state == JOB_RESERVED ? table_get(&broker->sessions, job->holder) : NULL;
}

// The job of that id, NULL for none.
struct job *broker_job(const struct broker *broker, uint64_t id);

// The job of that id while this session holds it, NULL otherwise.
struct job *broker_held(const struct session *session, uint64_t id);

//
// The broker's own calendar (calendar.c). It begins with the wall clock, runs with the monotonic
// one, and nobody sets it: ages are counted by it.
//

void calendar_begin(struct broker *broker);
// The clocks were read: sees whether the wall clock has been set.
void calendar_review(struct broker *broker);
// The present.
uint64_t calendar_now_ms(const struct broker *broker);
// A moment of the calendar as the wall clock says it now, and the way back, which never ends in the
// future.
uint64_t calendar_to_wall_ms(const struct broker *broker, uint64_t at_ms);
uint64_t calendar_from_wall_ms(const struct broker *broker, uint64_t wall_ms);
// How long ago that was.
nsec_t calendar_since(const struct broker *broker, uint64_t at_ms);

//
// Keys (key.c)
//

struct key_hash {
    uint64_t alone;          // of the key's bytes
    uint64_t whole;          // of the queue and the kind, too
    struct job_extra *first; // KEY_NAME: who holds the name first, in whatever queue; NULL: nobody
};

uint64_t key_hash_of(const struct hash_node *node);
uint64_t name_hash_of(const struct hash_node *node);
// The live job that the contract names by its key, NULL for none; and what key_take() wants to know
// where it is called before anything else happens to keys.
struct job *key_find(const struct broker *broker, const struct queue *queue, enum key_kind kind,
                     struct slice key, struct key_hash *hash);
// Sees to it that one more key can be held, from then on whenever its job wants it. False without
// memory.
bool key_make_room(struct broker *broker) MUST_USE;
void key_take(struct broker *broker, struct job *job, const struct key_hash *hash); // a free one
void key_claim(struct broker *broker, struct job *job); // takes its key where it is free
void key_yield(struct broker *broker, struct job *job);
// Of a job whose content is its key, and which was never looked for by key_find(): what key_claim()
// wants to know.
void key_know_content(const struct broker *broker, struct job *job);
struct slice job_key(const struct job *job);

//
// Who gets a ready job (match.c)
//

// Puts the job into READY, and (unless the broker is gathering) straight into the hands of who
// waits for it longest.
void match_ready(struct broker *broker, struct job *job, const struct job_place *ready);
// Gives the job, a new one or one that is not held, to the session: RESERVED, with a lease. `by` is
// the subscription that it was taken by, NULL for none; the room for its limit is there.
void match_lease(struct session *session, struct job *job, const struct subscription *by);
// The wait of that subscription's session is over: it will be told that it holds the job.
void match_assign(struct subscription *by, struct job *job);
// When a lease that begins or is renewed now ends, where it may not go beyond `limit_at` (0: may).
nsec_t match_lease_end(const struct broker *broker, const struct job *job, nsec_t limit_at);
// The time to run of a job that the session holds starts anew; a limit that its subscription set
// does not.
void match_renew(struct session *session, struct job *job);
// Lets ready jobs and waits meet where a pause has ended or jobs were gathered, at most `*budget`
// of them: the best job first, each to its longest waiter.
void match_backlog(struct broker *broker, unsigned *budget);
// The session, which a queue nudged, takes from another (`took`; NULL: from none): if there is work
// all the same, the next who naps there is nudged.
void match_pass_on(struct session *session, const struct queue *took);
// Ends naps that are owed a nudge.
void match_nudge(struct broker *broker, unsigned *budget);

// A slice has done one thing, which may have made a session get up from very many queues.
void match_pay(struct broker *broker, unsigned *budget);

//
// Which job a session takes (choice.c)
//

// A job of the queue has become ready or the last one has left, or a pause begins or ends: the
// queue has perhaps to enter, change or leave its place among open queues.
void choice_review(struct broker *broker, struct queue *queue);
// The best job that the session may take now, and by which subscription; NULL for none.
struct job *choice_best(struct session *session, struct subscription **by);

//
// Whose turn it is, for a session that chooses in turn; for others these do nothing (rota.c)
//

void rota_init(struct session *session);
void rota_join(struct subscription *subscription); // its turn comes first
void rota_leave(struct subscription *subscription);
void rota_to_back(struct subscription *subscription); // it has just been served: comes last
// The queue has nothing: the subscription is passed over until the queue opens again.
void rota_set_aside(struct subscription *subscription);
// Brings back those whose queues have opened; says how many queues it looked at.
size_t rota_bring_back(struct session *session);
// Whose turn comes after that one's, or first of all (NULL); NULL for none.
struct subscription *rota_next(const struct session *session, const struct subscription *after);

//
// How a job leaves its holder (outcome.c)
//

enum loss { LOSS_LEFT, LOSS_TTR, LOSS_LIMIT };

// The holder has lost the job: an attempt is spent.
void outcome_lost(struct broker *broker, struct job *job, enum loss loss);
// The job cannot be done: buried or dropped, as its submitter said.
void outcome_failed(struct broker *broker, struct job *job, struct blob *exception);
// The job is gone for good.
void outcome_ended(struct broker *broker, struct job *job, enum job_event_kind kind,
                   struct blob *data);
// Sets the job aside, or fails it where it is not durable.
void outcome_buried(struct broker *broker, struct job *job, uint32_t pri);

//
// What the log is told of jobs that fail or are lost (loss.c)
//

// A line `event` at info with the job, its queue and why, unless there were too many lately. The
// job is as it is before it leaves its holder.
void loss_log(struct broker *broker, const struct job *job, const char *event, const char *why);

//
// What a store is told (record.c)
//

// Is there a store that keeps this job?
static inline bool record_kept(const struct broker *broker, const struct job *job)
{
    return broker->recorder && job->durable;
}
bool record_ask(struct broker *broker, enum record_kind kind, const struct job *job);
uint64_t record_tell(struct broker *broker, enum record_kind kind, const struct job *job,
                     bool was_buried);

// Asked before the change.
static inline bool record_room(struct broker *broker, enum record_kind kind, const struct job *job)
{
    return !record_kept(broker, job) || record_ask(broker, kind, job);
}
// Told after it; `was_buried` is about the job before. The position of the record, which the answer
// to the present verb waits for; 0 where there is none.
static inline uint64_t record_append(struct broker *broker, enum record_kind kind,
                                     const struct job *job, bool was_buried)
{
    return record_kept(broker, job) ? record_tell(broker, kind, job, was_buried) : 0;
}
// The answer to the present verb waits for that position, too.
static inline void broker_raise(struct broker *broker, uint64_t position)
{
    if (position > broker->position) {
        broker->position = position;
    }
}

#endif
