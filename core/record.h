/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RECORD_H
#define TANDEM_CORE_RECORD_H

// Records: the changes of durable jobs, as the core hands them to a store, and the jobs that a
// store gives back after a restart (restore.h).
//
// The core asks for space before a change that may be refused, and appends after it. A submission
// asks for the space of the job's burial and end, too, so that these two are never refused. Leases,
// their renewals and their ends have no record unless they are durable (durable_lease.h): after a
// restart the job is ready.
//
// A store is asynchronous. Each append has a position, a number that never falls. A position is
// reached when everything appended at it is as safe as the operator requires. Output that depends
// on a record waits for its position (wire_hold in proto_common/wire.h).

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/dead_letter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob;
struct broker;
struct job;
struct memo;
struct queue;

enum record_kind {
    RECORD_SUBMIT,  // a job with its whole contract and body, or one that a join made durable
    RECORD_RELEASE, // by its holder: new priority, and ready or delayed
    RECORD_BURY,    // buried
    RECORD_KICK,    // ready, with all its attempts
    RECORD_TAKE,    // a buried job is held again
    RECORD_END,     // the job ends; it can still be read during the call
    RECORD_START,   // a delayed job begins earlier, for a submission that joined it
    RECORD_SET,     // an operator sets another priority or delay, in any state
    RECORD_MOVE,    // the job has moved to another queue
    RECORD_PAUSE,   // of `queue`, or the end of one; no job
    RECORD_MEMO,    // a memo is set (memo.h)
    RECORD_FORGET   // a memo is dropped before its end
};

struct record {
    enum record_kind kind;
    // KICK, TAKE: the job is buried, or was until now. The space of its burial is used up, and the
    // job needs it again.
    bool was_buried;
    const struct job *job; // in `has_space`, before the change; in `append`, after it
    // Of the job. MOVE: the other queue: in `has_space` the target, in `append` the source.
    const struct queue *queue;
    const struct memo *memo;               // MEMO, FORGET
    const struct dead_letter *dead_letter; // MOVE: in the new queue; DEAD_NOT for none
    size_t was_len;                        // MOVE, in `append`: job_variable_len() before it
};

// The state of a store, for statistics.
struct store_info {
    uint64_t oldest;   // number of the oldest file, 0 for none
    uint64_t current;  // number of the file that is written to
    uint64_t written;  // records from the core
    uint64_t migrated; // records written again to free old files
    uint64_t file_max; // bytes of a file
    uint64_t bytes;    // of all files, allocated or used
    uint64_t live;     // bytes of these that live jobs use or have reserved
    uint64_t errors;   // failed writes, syncs and the like
    bool failing;      // no write succeeded for some time, or the store is full: submissions are
                       // refused
    uint64_t epoch;    // of this process's ownership; 0: the store cannot have another owner
    bool durable;      // if `epoch` is not 0: committed data is on a disk
    bool replicated;   // ... and on a disk of another machine
};

struct recorder {
    // True: an append of this kind for this job or queue will succeed. Called before the change.
    bool (*has_space)(void *store, const struct record *record);
    // Called after the change; the store copies what it needs before it returns. Cannot fail.
    // Returns the position of the record; 0 if nothing needs to wait for it.
    uint64_t (*append)(void *store, const struct record *record);
    // The position that the existence of the job depends on: that of its submission if it is
    // durable, else that of its id. 0 if it has been reached.
    uint64_t (*position)(const void *store, const struct job *job);
    void (*info)(const void *store, struct store_info *info);
};

// The number of times that each of these happened to a job.
struct job_counters {
    uint32_t reserves, timeouts, releases, buries, kicks;
};

// The part of a recorded job that can change.
struct job_change {
    uint64_t id;
    uint8_t state;     // enum job_state: JOB_READY (also if it is held), _DELAYED, _BURIED
    bool on_wall;      // DELAYED: until a calendar moment that the submitter named
    bool imposed;      // DELAYED: by a failed attempt, a worker or an operator
    bool keyed;        // it holds its key
    uint16_t attempts; //
    uint32_t pri;      //
    uint32_t delay;    // as last given, seconds
    nsec_t due_at;     // DELAYED: when it becomes ready, by the wall clock
    nsec_t ready_at;   // READY, if its queue lets jobs expire: since when, by the wall clock; 0:
                       // not known
    uint64_t burial;   // BURIED: its place among buried jobs, earliest burial first
    bool counted;      // a change: it includes `counters`, which records of older formats do not
    struct job_counters counters; // of an image, and of a change that is `counted`
};

// A job with its whole contract. Slices are borrowed.
struct job_image {
    struct job_change now;
    struct slice queue;
    bool queue_kept;  // the queue stays when it is empty
    uint8_t key_kind; // enum key_kind
    uint8_t on_fail;  // enum on_fail
    uint8_t on_loss;  // enum on_loss
    uint16_t max_attempts;
    uint32_t ttr;                   // seconds; 0: none
    uint64_t created_ms;            // wall clock
    struct dead_letter dead_letter; // DEAD_NOT: none
    struct slice key;               // KEY_NAME
    struct slice reducer;
    struct slice body;
    struct blob *blob; // the blob of a large `body`; borrowed, else NULL
};

// Describes the present state of the job. Delays are given as moments of the wall clock.
void job_describe_change(const struct broker *broker, const struct job *job,
                         struct job_change *change);
void job_describe(const struct broker *broker, const struct job *job, struct job_image *image);

// The bytes of the parts of variable length: the names of its queue, key and reducer, its dead
// letter, as dead_letter_len() counts it, and its body.
size_t job_variable_len(const struct broker *broker, const struct job *job);
// The id that the next job gets.
uint64_t broker_next_id(const struct broker *broker);

bool job_is_buried(const struct job *job);
bool job_is_durable(const struct job *job);

// A number of the store's: where it keeps the job, or the pause of the queue. 0 at first. (Setting
// it does not count as a change of the job.)
uint32_t job_mark(const struct job *job);
void job_set_mark(const struct job *job, uint32_t mark);
uint32_t queue_mark(const struct queue *queue);
void queue_set_mark(struct broker *broker, const struct queue *queue, uint32_t mark);

// The paused queue whose mark was set first, NULL if none is paused.
const struct queue *broker_pause_oldest(const struct broker *broker);
// The number of paused queues, and the bytes of their names.
void broker_pauses(const struct broker *broker, uint64_t *count, uint64_t *names);

// The length of the queue's pause, as given, and its end by the wall clock. False if it is not
// paused.
bool queue_describe_pause(const struct broker *broker, const struct queue *queue, nsec_t *pause_for,
                          nsec_t *until_at);

#endif
