/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_H
#define TANDEM_CORE_BROKER_H

// The broker: jobs in queues, sessions that submit, hold and watch them, and the moments at which
// something falls due. It is a state machine: it does no I/O and reads no clock. MODEL.md beside
// this file tells the model; what each verb does to a job is said here.
//
// Use. A front-end opens a session for each connection and calls verbs. A verb changes the state
// and answers at once; it never calls back. What a verb means for other sessions (a blocked worker
// gets a job, a watcher gets a result) is kept as a notice and told by broker_settle(), which is
// the only place where session_ops are called. The host tells the time with broker_tick() and asks
// broker_next_due() when it must do so again.
//
// Failure. What may fail fails at the door: submitting, subscribing, opening, waiting, reporting
// data. What happens to a job afterwards, and its end, cannot fail.
//
// Ownership. Strings and bodies handed in are copied, unless they come as a blob, of which a
// reference is taken. Pointers to jobs, queues and watches that come out are borrowed: a job or a
// queue stays valid until the next verb, tick or settle that can end it; a queue that the caller
// holds stays valid until it is dropped.

#include "core/base/blob.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/record.h"
#include "core/base/slice.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct session;
struct queue;
struct job;
struct watch;
struct subscription;

// The longest queue name. Names have 1 to this many bytes, any but NUL.
#define QUEUE_NAME_MAX 512
// The longest key and reducer.
#define JOB_KEY_MAX 512
// How many objects of one kind (sessions that left, delays, leases, notices, events ...) one verb,
// tick or settle handles before it lets others have a turn.
#define BROKER_SLICE 256

// Priorities are numbers, 0 first. Where a protocol has three words, they stand for these, and a
// number is read back as the band that it lies in.
enum band { BAND_HIGH, BAND_NORMAL, BAND_LOW };
#define BAND_COUNT 3
#define PRI_HIGH UINT32_C(512)
#define PRI_NORMAL UINT32_C(65536)
#define PRI_LOW UINT32_C(2147549184)

// high < 1024 <= normal < 2^31 <= low
static inline enum band band_of(uint32_t pri)
{
    return pri < 1024 ? BAND_HIGH : pri < UINT32_C(1) << 31 ? BAND_NORMAL : BAND_LOW;
}

enum job_state { JOB_DELAYED, JOB_READY, JOB_RESERVED, JOB_BURIED, JOB_GONE };
#define JOB_STATES 4 // that a live job can be in

//
// Life cycle
//

struct broker_options {
    const struct recorder *recorder; // NULL: nothing is durable, nothing is refused for the store
    void *store;                     // handed to the recorder
    uint64_t first_id;               // of the first job; 0 stands for 1
    uint64_t secret;                 // random: mixed into the hashes of names and keys
};

// A broker at the moment `now`; NULL without memory.
struct broker *broker_new(const struct broker_options *options, struct instant now) MUST_USE;

// Frees everything. All sessions must be closed. NULL is allowed.
void broker_free(struct broker *broker);

// How many sessions one ready job nudges; 0, as at first: all that wait for a nudge of its queue.
void broker_set_nudges(struct broker *broker, uint32_t nudges);

// Refuses all further submissions (STATUS_DRAINING).
void broker_drain(struct broker *broker);

// Takes submissions again.
void broker_end_drain(struct broker *broker);

// The process is about to end, and its sessions with it. The last of a paused queue takes the pause
// along when it closes by itself; from now on the store keeps it, for those who come again.
void broker_retire(struct broker *broker);

//
// The turn
//

// Sets the present and does what is due, at most BROKER_SLICE objects of it. Neither clock's
// value may make the monotonic clock go back.
void broker_tick(struct broker *broker, struct instant now);

// Tells sessions what concerns them, at most BROKER_SLICE notices. True: there is more.
bool broker_settle(struct broker *broker);

// Called by a callback that encodes what it is told: so many bytes, beyond those of a small answer.
// They count as one more telling for each ENCODED_AT_ONCE, so that other watches, and connections
// that have nothing to do with the job, get their turn. What is sent by reference costs nothing.
#define ENCODED_AT_ONCE 1024
void broker_charge_bytes(struct broker *broker, size_t len);

// The monotonic moment at which broker_tick() and broker_settle() have something to do: the
// present where work is left over, NSEC_NEVER where nothing is pending. While a calendar moment is
// pending it is at most a second away, so that steps of the wall clock are honoured.
nsec_t broker_next_due(const struct broker *broker);

// The present, as last told.
struct instant broker_now(const struct broker *broker);

//
// The store: what must not leave the process before it is safe (record.h)
//

// The position that the answer to the verb just made must wait for: that of the records that it
// appended, or of the job that a submission joined; 0 for none. Any other verb changes it, and so
// does the next slice of a kick.
uint64_t broker_position(const struct broker *broker);

// The position that whatever shows the job's body, or names a job that is not durable, must wait
// for; 0 for none.
uint64_t broker_job_position(const struct broker *broker, const struct job *job);

// What the store is doing. False, and all zero, without one.
bool broker_store_info(const struct broker *broker, struct store_info *info);

//
// Sessions: one for each connection
//

enum wait_end {
    WAIT_TIMED_OUT, // `until` came
    WAIT_LEASE_SOON // a lease of this session comes within `margin` of its end
};

enum job_event_kind {
    JOB_EVENT_PROGRESS,  // numerator of denominator; data: as the worker spelt it, may be NULL
    JOB_EVENT_DATA,      // a part of the result
    JOB_EVENT_WARNING,   // a remark of the worker
    JOB_EVENT_RETRIED,   // to be begun anew: parts sent so far count for nothing. Where its last
                         // holder may still complete the job, when another has taken it
    JOB_EVENT_COMPLETE,  // the result. This and the following are final: the watch is gone when
    JOB_EVENT_FAILED,    // the call returns
    JOB_EVENT_EXCEPTION, // failed, with the worker's explanation
    JOB_EVENT_CANCELLED  // taken back by somebody
};

struct job_event {
    enum job_event_kind kind;
    uint64_t job_id;
    uint64_t numerator, denominator;
    struct blob *data; // borrowed; NULL stands for no bytes
    uint64_t position; // in the store, that telling the outside must wait for; 0 for none
};

// How a session is told. Called by broker_settle() only; a callback stages output and may read
// what it is shown, but calls no verb. Where it makes many bytes, it says so by
// broker_charge_bytes(). `owner` is what broker_session_open() was given.
struct session_ops {
    // The wait is over: the session holds `job` now.
    void (*leased)(void *owner, const struct job *job);
    // The wait is over without a job.
    void (*wait_over)(void *owner, enum wait_end why);
    // The wait for a nudge is over: there may be a job to take. Others may be quicker.
    void (*nudged)(void *owner);
    // Something happened to a job that this session watches.
    void (*job_event)(void *owner, struct watch *watch, const struct job_event *event);
};

// How a session chooses among its queues, where several have a ready job.
enum choice {
    CHOICE_OLDEST, // the lowest priority number, then the job that came first
    CHOICE_IN_TURN // the lowest priority number, then the queue whose turn it is (MODEL.md);
                   // a new subscription comes before all that are there
};

// STATUS_NO_MEMORY. `ops` must outlive the session.
enum status broker_session_open(struct broker *broker, const struct session_ops *ops, void *owner,
                                enum choice choice, struct session **session) MUST_USE;

// The connection is gone: what it waits for or watches is forgotten, and the jobs it holds are
// lost to it (an attempt each), in slices where there are many. No callback follows. NULL is
// allowed; the pointer is not valid afterwards.
void broker_session_close(struct session *session);

// How many jobs the session holds.
size_t session_leases(const struct session *session);

//
// Queues
//

// Finds the queue of that name or creates it, and counts the caller as one who refers to it.
// STATUS_NO_MEMORY, STATUS_TOO_LARGE, STATUS_BAD_NAME.
enum status broker_queue_hold(struct broker *broker, struct slice name,
                              struct queue **queue) MUST_USE;

// The caller refers to it no longer. A queue that is not kept vanishes when it has no job, no
// subscription and no holder left.
void broker_queue_drop(struct broker *broker, struct queue *queue);

// The queue of that name, NULL where there is none. Borrowed.
struct queue *broker_queue_find(struct broker *broker, struct slice name);

// Whether the queue stays when nothing refers to it. A queue that is kept no longer vanishes at
// once where nothing else refers to it.
void broker_queue_keep(struct broker *broker, struct queue *queue, bool keep);

// Walks all queues: the first at place `*cursor` or after it; moves the cursor behind it; NULL at
// the end. Start with 0. Queues that come or go in between are seen or not; none is seen twice.
struct queue *broker_queue_next(struct broker *broker, uint32_t *cursor);

// Nothing is taken from the queue for this long; 0 ends a pause. At its end jobs and waiters meet.
// STATUS_NO_ROOM leaves things as they were.
enum status broker_pause(struct broker *broker, struct queue *queue, nsec_t pause_for) MUST_USE;

// The most jobs (ready, reserved and delayed) that the queue may have for a submission of each
// band to be accepted; 0 for no limit.
void broker_queue_limit(struct queue *queue, const uint32_t limits[BAND_COUNT]);

//
// Subscriptions: what a session takes jobs from
//

enum on_limit { ON_LIMIT_RETRY, ON_LIMIT_FAIL };

struct terms {
    nsec_t limit_for;       // a job taken by this subscription is held no longer; 0: no limit.
                            // Kept in milliseconds, rounded up, at most 49 days
    enum on_limit on_limit; // what becomes of it then
};

// Subscribes, or changes the terms of a subscription that exists (for leases to come). Creates the
// queue. A session that waits for a nudge gets it where a job is ready. Not while it waits for a
// job. STATUS_NO_MEMORY, STATUS_TOO_LARGE, STATUS_BAD_NAME.
enum status broker_subscribe(struct session *session, struct slice name,
                             const struct terms *terms) MUST_USE;

// Ends the subscription; one that does not exist is no error. With `give_back`, jobs that were
// taken by it are lost to the session (an attempt each); otherwise leases are not touched, and the
// answer is STATUS_OK. STATUS_MORE: many are held, call again before the session does anything
// else.
enum status broker_unsubscribe(struct session *session, struct slice name, bool give_back);

// Ends all subscriptions, and gives back all jobs that were taken by them. STATUS_MORE as above.
enum status broker_unsubscribe_all(struct session *session);

bool session_subscribed(const struct session *session, struct slice name);
size_t session_subscriptions(const struct session *session);

// Takes the limits off the leases that the session has: each may be held for its time to run, which
// starts anew. STATUS_MORE: there are many, call again before the session does anything else.
enum status broker_end_limits(struct session *session) MUST_USE;

// Walks the session's subscriptions in the order in which they were made. Start with NULL in
// `*cursor`; NULL at the end. The session's subscriptions must not change in between.
struct queue *session_queue_next(const struct session *session, const struct subscription **cursor);

// A walk over the session's subscriptions, the one that was made last first. It may be kept while
// they change: those that were made since it began are left out, those that ended are passed over.
struct subscription_walk {
    struct list_node in_session; /* private */
    struct subscription *next;   /* private */
};

void subscription_walk_begin(struct subscription_walk *walk, const struct session *session);

// NULL at the end, and when the session has closed.
struct queue *subscription_walk_next(struct subscription_walk *walk);

// From now on until subscription_walk_end() it notices what changes. False without memory.
bool subscription_walk_keep(struct subscription_walk *walk) MUST_USE;

// Of one that was begun. Whatever its session does then does not matter to it.
void subscription_walk_end(struct subscription_walk *walk);

//
// Submitting
//

enum start_kind {
    START_NOW,
    START_AFTER, // `start` is a duration
    START_AT     // `start` is a moment of the wall clock; a past one means now
};

enum key_kind {
    KEY_NONE,
    KEY_NAME,   // `key` names the job within its queue
    KEY_CONTENT // the body is the key; a space of its own. An empty body is no key
};

enum on_fail { ON_FAIL_BURY, ON_FAIL_DROP };
enum on_loss { ON_LOSS_FRONT, ON_LOSS_BACK };

// The contract of a job, written once by whoever submits it.
struct job_spec {
    struct queue *queue;
    uint32_t pri;
    enum start_kind start_kind;
    nsec_t start;
    nsec_t ttr_for; // how long a worker may hold it, kept in whole seconds (rounded up);
                    // 0: until its holder leaves
    enum key_kind key_kind;
    struct slice key;      // KEY_NAME: 1 to JOB_KEY_MAX bytes
    struct slice reducer;  // empty for none
    uint32_t max_attempts; // 0: no limit; at most JOB_ATTEMPTS_MAX
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool durable;
    struct slice body;      // copied, where body_blob is NULL
    struct blob *body_blob; // a reference is taken
};

#define JOB_ATTEMPTS_MAX 1000

struct submission {
    uint64_t id;
    bool joined;         // an earlier live job of that key was found: the id is that job's
    struct watch *watch; // NULL where none was asked for
};

// Accepts a job, or joins the live one of the same queue and key: the earlier start wins, all else
// of the second is dropped, but a durable duplicate makes the job durable. With `watcher`, that
// session is told of the job from now on (each submission is a watch of its own; a job that is not
// durable goes with its last watch, unless a worker holds it).
// STATUS_NO_MEMORY, STATUS_NO_ROOM, STATUS_DRAINING, STATUS_QUEUE_FULL, STATUS_TOO_LARGE (key or
// reducer); nothing is changed then.
enum status broker_submit(struct broker *broker, const struct job_spec *spec,
                          struct session *watcher, struct submission *submission) MUST_USE;

// The same for the queue of that name, which is made where there is none, and is kept from then on;
// `spec->queue` is not looked at. STATUS_BAD_NAME, and STATUS_TOO_LARGE for the name, too.
enum status broker_submit_to(struct broker *broker, struct slice name, struct job_spec *spec,
                             struct session *watcher, struct submission *submission) MUST_USE;

// Ends a watch. The watch is not valid afterwards.
void broker_unwatch(struct watch *watch);

// Room for the front-end to find its own state by: what was set last, at first NULL.
void watch_set_owner(struct watch *watch, void *owner);
void *watch_owner(const struct watch *watch);

//
// Working
//

// Takes the best ready job of the session's queues that are not paused: reserved, with a lease.
// STATUS_EMPTY, STATUS_NO_MEMORY.
enum status broker_take(struct session *session, const struct job **job) MUST_USE;

// How many queues and subscriptions all verbs since the last call have looked at, beyond a few
// each: by a search among many queues, and by sessions that began or stopped to wait on many. The
// count starts anew. For front-ends that share time out among connections, see
// broker_budget_left().
size_t broker_take_links(struct broker *broker);

// What is left of a budget of commands: one that looked at very many of these counts for several.
static inline unsigned broker_budget_left(struct broker *broker, unsigned budget)
{
    size_t cost = broker_take_links(broker) / BROKER_SLICE;

    return cost < budget ? budget - (unsigned)cost : 0;
}

// Takes the job of that id, ready, delayed or buried, whatever its queue. STATUS_NOT_FOUND (a job
// that is held, too), STATUS_NO_ROOM.
enum status broker_take_id(struct session *session, uint64_t id, const struct job **job) MUST_USE;

// Waits for a job, after broker_take() found none: exactly one of `leased` and `wait_over` follows
// STATUS_OK. The wait ends at the moment `until` (monotonic, NSEC_NEVER for no end), and when a
// lease of the session itself comes within `margin_for` of its end (negative: never for that; kept
// in milliseconds).
// Answers at once: STATUS_LEASE_SOON, STATUS_TIMED_OUT (`until` is not in the future),
// STATUS_NO_MEMORY. An assigned job that is lost or taken back before the session is told leaves it
// waiting, in the last place; where that would need memory (a limited subscription) and there is
// none, the wait is over as if it had timed out.
enum status broker_wait(struct session *session, nsec_t until, nsec_t margin_for) MUST_USE;

// Asks for one `nudged` when a job may be taken; at once where one is ready: the answer is false
// then. Withholds no job.
bool broker_await_nudge(struct session *session);

// Ends a wait, for a job or for a nudge, without a word. A job that was assigned but not told of
// yet stays held: the answer is then false, and `leased` still comes, or, where the job is lost or
// taken back before that, another lease or `wait_over`.
bool broker_unwait(struct session *session);

// The job is done, and gone; its watchers get `result` (may be NULL), or JOB_EVENT_FAILED where a
// part of it was lost on its way. By its holder, or by its last holder after its time to run ran
// out and while it is ready again. STATUS_NOT_FOUND.
enum status broker_complete(struct session *session, uint64_t id, struct blob *result) MUST_USE;

// The job cannot be done: buried or gone, as its submitter said; watchers are told
// JOB_EVENT_FAILED, or JOB_EVENT_EXCEPTION with `exception`. By its holder. STATUS_NOT_FOUND.
enum status broker_fail(struct session *session, uint64_t id, struct blob *exception) MUST_USE;

// Gives the job back with a new priority, ready or after a delay, at its old place among equals. By
// its holder. STATUS_NOT_FOUND, STATUS_NO_ROOM.
enum status broker_release(struct session *session, uint64_t id, uint32_t pri,
                           nsec_t delay_for) MUST_USE;

// Sets the job aside with a new priority; a job that is not durable fails instead. By its holder.
// STATUS_NOT_FOUND. Its room was reserved by the submission.
enum status broker_bury(struct session *session, uint64_t id, uint32_t pri) MUST_USE;

// Starts the time to run anew. By its holder. STATUS_NOT_FOUND.
enum status broker_touch(struct session *session, uint64_t id) MUST_USE;

// Tells the watchers, and starts the time to run anew. `kind` is JOB_EVENT_PROGRESS, _DATA or
// _WARNING; `data` may be NULL. By its holder, or by its last holder as in broker_complete(), which
// gets no new time by it. STATUS_NOT_FOUND, STATUS_NO_MEMORY: data that is refused so is lost, as
// below.
enum status broker_report(struct session *session, uint64_t id,
                          const struct job_event *event) MUST_USE;

// Data that whoever may report it has reported could not be taken in: unless the job is begun anew,
// its completion is told as a failure, so that a part is never taken for the whole. A job that the
// session may not report about is left alone.
void broker_data_lost(struct session *session, uint64_t id);

// Whether so much is still to be told, of a job that the session may report about, or of all jobs
// that take as long to tell, that it should report no more before broker_settle() has caught up:
// watches may be very many.
bool broker_report_waits(const struct session *session, uint64_t id);

//
// Looking after jobs
//

// Takes a job back: gone, watchers are told JOB_EVENT_CANCELLED. STATUS_NOT_FOUND; STATUS_HELD
// while a worker holds it, unless `even_held` (the worker is not told; its reports find no job).
enum status broker_cancel(struct broker *broker, uint64_t id, bool even_held) MUST_USE;

// A kick of many jobs of one queue, made in slices. Fill in with broker_kick_begin(), then call
// broker_kick() until it answers something else than STATUS_MORE. The caller holds the queue
// meanwhile.
struct kick {
    uint32_t left;   /* private */
    uint32_t kicked; // how many so far
    bool buried;     /* private */
};

// Decides what is kicked: at most `bound` of the buried jobs, longest buried first, or, where none
// is buried, of the delayed ones, soonest first.
void broker_kick_begin(const struct queue *queue, uint32_t bound, struct kick *kick);

// STATUS_OK: done; STATUS_MORE; STATUS_NO_ROOM: the rest stays as it is.
enum status broker_kick(struct broker *broker, struct queue *queue, struct kick *kick) MUST_USE;

// Makes one buried or delayed job ready. STATUS_NOT_FOUND, STATUS_NO_ROOM.
enum status broker_kick_id(struct broker *broker, uint64_t id) MUST_USE;

//
// Looking at things
//

// The live job of that id, NULL where there is none.
const struct job *broker_find(const struct broker *broker, uint64_t id);

// The live job of that name in the queue, NULL where there is none.
const struct job *broker_find_key(const struct broker *broker, const struct queue *queue,
                                  struct slice key);

// The live job of that name in any queue; of several, the one that has held it longest. NULL where
// there is none.
const struct job *broker_find_name(const struct broker *broker, struct slice key);

// Where a walk over all live jobs stands: all zero at first. It refers to no job, and may be kept
// over any verb.
struct job_walk {
    uint64_t position; /* private */
    uint64_t id;       /* private */
    bool over;         /* private */
};

// Walks all live jobs, in no order that means anything. STATUS_OK: `*job` is the next one;
// STATUS_MORE: this step found none, call again; STATUS_EMPTY: that was all. A step looks at a few
// jobs, and a whole walk takes about as many steps as there are jobs. A job that lives all through
// the walk is seen exactly once, one that comes or goes meanwhile perhaps; none is seen twice.
enum status broker_job_next(const struct broker *broker, struct job_walk *walk,
                            const struct job **job) MUST_USE;

// The best ready job, the one whose delay ends first, the longest buried one; NULL for none. A
// pause does not matter.
const struct job *queue_peek_ready(const struct queue *queue);
const struct job *queue_peek_delayed(const struct broker *broker, const struct queue *queue);
const struct job *queue_peek_buried(const struct queue *queue);

uint64_t job_id(const struct job *job);
struct slice job_body(const struct job *job);
// What its body is in, where it is large; NULL otherwise.
struct blob *job_blob(const struct job *job);
const struct queue *job_queue(const struct broker *broker, const struct job *job);
bool job_held_by(const struct broker *broker, const struct job *job, const struct session *session);

struct job_info {
    uint64_t id;
    enum job_state state;
    const struct queue *queue;
    uint32_t pri;
    nsec_t age_for;    // since it was submitted
    nsec_t created_at; // wall
    nsec_t delay_for;  // as last given, whole seconds
    nsec_t ttr_for;    // 0: none
    nsec_t left_for;   // until the lease or the delay ends, never negative; 0 where neither runs
    uint32_t reserves, timeouts, releases, buries, kicks, attempts;
    uint32_t max_attempts;
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool durable;
    uint32_t watches;
    uint64_t numerator, denominator; // as last reported, else 0
    bool data_reported;              // in the present attempt: who joins now does not get that part
    enum key_kind key_kind;
    struct slice key, reducer; // valid as long as the job
};

void broker_job_info(const struct broker *broker, const struct job *job, struct job_info *info);

struct slice queue_name(const struct queue *queue);

struct queue_info {
    uint64_t jobs[JOB_STATES];  // by state
    uint64_t ready[BAND_COUNT]; // by band; the first is what beanstalk calls urgent
    uint64_t total_jobs;        // ever accepted here
    uint64_t ended;             // completed or taken back here
    uint64_t pauses;            // how often it was paused
    uint32_t holders;           // who refer to it by broker_queue_hold()
    uint32_t subscriptions;
    uint32_t waiting;      // sessions that wait on it, for a job or for a nudge
    nsec_t pause_for;      // as given, while it lasts, else 0
    nsec_t pause_left_for; // what is left of it
    uint32_t limits[BAND_COUNT];
    bool kept;
};

void broker_queue_info(const struct broker *broker, const struct queue *queue,
                       struct queue_info *info);

struct broker_info {
    uint64_t jobs[JOB_STATES];
    uint64_t ready[BAND_COUNT];
    uint64_t total_jobs;
    uint64_t timeouts; // leases that ended by time
    uint64_t queues;
    uint64_t sessions;
    uint64_t waiting;
    bool draining;
};

void broker_info(const struct broker *broker, struct broker_info *info);

#endif
