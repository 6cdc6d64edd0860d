/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RECORD_H
#define TANDEM_CORE_RECORD_H

// What changes in durable jobs, as the core tells it to a store, and jobs as a store gives them
// back after a restart (restore.h).
//
// The core asks for space before it changes anything that may be refused, and appends after it has
// changed; space for a job's burial and for its end is part of what a submission asks for, so that
// those two are never refused. Nothing is recorded for a lease, its renewal, or its end, unless it
// is kept (durable_lease.h): a restart finds such a job ready.
//
// A store is asynchronous. Each append has a position, a number that never falls; a position is
// reached when everything appended at it is as safe as the operator asked for. What depends on a
// record must not leave the process before its position is reached: front-ends hold such output
// (wire_hold in proto_common/wire.h).

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
    RECORD_KICK,    // ready, attempts start anew
    RECORD_TAKE,    // a buried job is held again
    RECORD_END,     // the job is gone; it can still be looked at during the call
    RECORD_START,   // a delayed job begins earlier, as a submission that joined it wants
    RECORD_SET,     // other priority or delay, as an operator wishes: in any state
    RECORD_MOVE,    // the job has gone to another queue
    RECORD_PAUSE,   // of `queue`, or the end of one; no job
    RECORD_MEMO,    // what is remembered besides jobs (memo.h)
    RECORD_FORGET   // the same is dropped before its time
};

struct record {
    enum record_kind kind;
    // KICK, TAKE: the job is buried, or was until now. The space of its burial was used up and is
    // wanted anew.
    bool was_buried;
    const struct job *job; // in `has_space`, as it is before the change, in `append`, after it
    // Of the job. MOVE: the other one, in `has_space` to which it goes, in `append` from which it
    // came.
    const struct queue *queue;
    const struct memo *memo; // MEMO, FORGET
    const struct dead_letter
        *dead_letter; // MOVE: that the job has in the other queue; DEAD_NOT for none
    size_t was_len;   // MOVE, in `append`: job_variable_len() before it
};

// What a store is doing, for statistics.
struct store_info {
    uint64_t oldest;   // number of the oldest file, 0 for none
    uint64_t current;  // of the one that is written to
    uint64_t written;  // records that came from the core
    uint64_t migrated; // records that were written anew to free old files
    uint64_t file_max; // bytes of a file
    uint64_t bytes;    // on disk, in all files, set aside or used
    uint64_t live;     // bytes of these that live jobs take and are promised
    uint64_t errors;   // writes, syncs and the like that failed
    bool failing;      // nothing could be made to last for some time, or the disk is full:
                       // submissions are refused
    uint64_t epoch;    // of this process's ownership; 0: no other process could have the store
    bool durable;      // where it is not 0: what is made to last is on a disk
    bool replicated;   // ... and on those of another machine
};

struct recorder {
    // True: an append of this kind for this job or queue will succeed. Called before the change.
    bool (*has_space)(void *store, const struct record *record);
    // The change is made; the store copies what it needs before it returns. Cannot fail. The
    // position of the record; 0 where nothing need wait for it.
    uint64_t (*append)(void *store, const struct record *record);
    // The position that the existence of the job depends on: its submission's where it is durable,
    // else that of its id. 0 where that has been reached.
    uint64_t (*position)(const void *store, const struct job *job);
    void (*info)(const void *store, struct store_info *info);
};

// What a job has been through.
struct job_counters {
    uint32_t reserves, timeouts, releases, buries, kicks;
};

// What can change in a job as it is kept.
struct job_change {
    uint64_t id;
    uint8_t state;     // enum job_state: JOB_READY (also of one that is held), _DELAYED, _BURIED
    bool on_wall;      // DELAYED: until a calendar moment that the submitter named
    bool imposed;      // DELAYED: by a failed attempt, a worker or an operator
    bool keyed;        // it holds its key
    uint16_t attempts; //
    uint32_t pri;      //
    uint32_t delay;    // as last given, seconds
    nsec_t due_at;     // DELAYED: when it becomes ready, by the wall clock
    nsec_t ready_at;   // READY, where its queue lets jobs expire: since when, by the wall clock;
                       // 0: that is not known
    uint64_t burial;   // BURIED: its place among buried jobs, longest buried first
    bool counted;      // a change: `counters` are there, which records of older formats lack
    struct job_counters counters; // of an image, and of a change where `counted`
};

// A job with all of its contract. Slices are borrowed.
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
    struct blob *blob; // what `body` is in, where it is large; borrowed, else NULL
};

// Says how the job stands now. Delays are told as moments of the wall clock.
void job_describe_change(const struct broker *broker, const struct job *job,
                         struct job_change *change);
void job_describe(const struct broker *broker, const struct job *job, struct job_image *image);

// Bytes of what differs in length from job to job: the names of its queue, key and reducer, its
// past, as dead_letter_len() counts it, and its body.
size_t job_variable_len(const struct broker *broker, const struct job *job);
// The id that the next job gets.
uint64_t broker_next_id(const struct broker *broker);

bool job_is_buried(const struct job *job);
bool job_is_durable(const struct job *job);

// A number that belongs to the store: where it keeps the job, or the pause of the queue. At first
// 0. (A change of it is no change of the job.)
uint32_t job_mark(const struct job *job);
void job_set_mark(const struct job *job, uint32_t mark);
uint32_t queue_mark(const struct queue *queue);
void queue_set_mark(struct broker *broker, const struct queue *queue, uint32_t mark);

// The paused queue that was marked longest ago, NULL where none is paused.
const struct queue *broker_pause_oldest(const struct broker *broker);
// How many queues are paused, and the bytes of their names.
void broker_pauses(const struct broker *broker, uint64_t *count, uint64_t *names);

// The pause of the queue: what was asked for, and the moment of the wall clock at which it ends.
// False where it is not paused.
bool queue_describe_pause(const struct broker *broker, const struct queue *queue, nsec_t *pause_for,
                          nsec_t *until_at);

#endif
