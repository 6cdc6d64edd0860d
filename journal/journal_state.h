/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_JOURNAL_STATE_H
#define TANDEM_JOURNAL_JOURNAL_STATE_H

// Private to the journal: its state. Functions that need only a part of it take that part.

#include "core/broker.h"
#include "journal/codec.h"
#include "journal/journal.h"
#include "journal/log_batch.h"
#include "journal/segment.h"
#include "journal/storage.h"
#include "journal/worker.h"

#include <stdatomic.h>

//
// The worker thread's task
//

struct task_slot {
    struct journal_worker worker;
    struct task task;
    nsec_t begun_at;
    bool busy; // the worker thread has `task`
};

static inline bool slot_done(const struct task_slot *slot)
{
    return slot->worker.done(slot->worker.self);
}

static inline void slot_wait(const struct task_slot *slot)
{
    slot->worker.wait(slot->worker.self);
}

// Runs another task and waits for it; returns its error. The worker thread must be idle.
static inline int slot_run(const struct task_slot *slot, struct task *task)
{
    slot->worker.give(slot->worker.self, task);
    slot_wait(slot);
    ENSURE(slot_done(slot));
    return task->error;
}

//
// The counters behind struct restore_progress, and the order to stop: the thread that opens the
// journal counts, any thread may read them and set `stop`
//

struct opening_counters {
    atomic_bool stop;
    atomic_uint_least64_t read;
    atomic_uint_least64_t size;
    atomic_uint_least64_t jobs;
};

static inline bool progress_stops(const struct opening_counters *progress)
{
    return atomic_load_explicit(&progress->stop, memory_order_relaxed);
}

static inline void progress_add(struct opening_counters *progress, uint64_t bytes)
{
    atomic_fetch_add_explicit(&progress->read, bytes, memory_order_relaxed);
}

static inline void progress_set_jobs(struct opening_counters *progress, uint64_t jobs)
{
    atomic_store_explicit(&progress->jobs, jobs, memory_order_relaxed);
}

// More bytes are to be read.
static inline void progress_grow(struct opening_counters *progress, uint64_t bytes)
{
    atomic_fetch_add_explicit(&progress->size, bytes, memory_order_relaxed);
}

// Reading of `size` bytes begins.
static inline void progress_begin(struct opening_counters *progress, uint64_t size)
{
    atomic_store_explicit(&progress->read, 0, memory_order_relaxed);
    atomic_store_explicit(&progress->size, size, memory_order_relaxed);
}

//
// Ids are given out from blocks. A record says that ids below a number may have been given out;
// after a restart, ids continue above the highest such number. No client may learn an id that no
// synced record covers: it could be given out again after a restart.
//

// The size of a block, and most ids that are asked for at a time.
#define IDS_BLOCK UINT64_C(65536)
#define IDS_AHEAD_MOST (64 * IDS_BLOCK)
// The gap left for ids of lost records: larger than any real count.
#define IDS_LOST (UINT64_C(1) << 32)

struct ids {
    uint64_t end;     // ids below it may be given out, by a synced record
    uint64_t asked;   // the same, by the record appended last
    uint64_t written; // the same, by the record written last
    uint64_t ahead;   // how many are asked for at a time
};

// Whether ids up to `next` were given out that no client may learn yet.
static inline bool ids_short(const struct ids *ids, uint64_t next)
{
    return next > ids->end;
}
// Whether the next block should be asked for: well before it is needed.
static inline bool ids_wanted(const struct ids *ids, uint64_t next)
{
    return ids->asked < next + ids->ahead / 2;
}
// Whether a record of ids was written and is not synced yet.
static inline bool ids_wait(const struct ids *ids)
{
    return ids->end < ids->written;
}
// Ids are used faster than blocks are synced: asks for more at a time.
static inline void ids_go_faster(struct ids *ids)
{
    if (ids->ahead < IDS_AHEAD_MOST) {
        ids->ahead *= 2;
    }
}
// Where the next block ends.
static inline uint64_t ids_next_end(const struct ids *ids, uint64_t next)
{
    return (next + IDS_BLOCK / 2) / IDS_BLOCK * IDS_BLOCK + ids->ahead;
}

//
// The other parts of the state
//

struct ledger {
    uint64_t live;     // bytes of the full records of live jobs
    uint64_t reserved; // bytes that live jobs may still need
};

// Log positions: numbers of batches.
struct positions {
    uint64_t reached;   // clients that wait for positions up to it may be answered
    uint64_t synced;    // everything up to it is synced
    nsec_t unsynced_at; // since when something written is not synced; NSEC_NEVER: all is
};

// How long a batch waits for more records.
struct batch_pace {
    nsec_t written_at; // when the last write ended, by settings.now
    nsec_t took_for;   // and how long it took
    uint64_t
        expected; // records of the next batch if all clients just answered submit as many again
};

struct failure {
    nsec_t failing_at;  // since when writing has failed; NSEC_NEVER: it works
    nsec_t retry_at;    // no task is given before
    nsec_t given_up_at; // when waiting clients were given up last
    unsigned count;     // of failures to write, in a row
    bool given_up;      // submissions are refused until a write succeeds
    bool gave_up;       // journal_gave_up() has not been told yet
};

// What the storage does beside writing and syncing batches: for example, allocating and freeing
// space, removing segments.
struct maintenance {
    nsec_t retry_at;     // no task before: the last one failed
    uint64_t due;        // tasks that may come before the next batch
    int error;           // of the last task of `kind`; 0: none, or reported as a full disk
    enum task_kind kind; //
    bool full;           // no disk space for a next segment: submissions are refused
};

struct compaction {
    bool runs;
    bool blocked;      // for the time being there is no space
    size_t place;      // in the list, of the segment that is being emptied
    size_t run;        // of the segment's ids
    uint64_t id;       // the next one to look up; 0: the run's first
    size_t wants;      // bytes of the record that there is no space for; 0: none
    nsec_t retry_at;   // no space is made for it before: the disk had none
    bool told;         // ... and that was logged
    uint64_t appended; // bytes that the core appended since the last turn of compaction
};

// The mark at the end of the log (turn.c).
struct end_mark {
    nsec_t quiet_at; // when to write it; NSEC_NEVER: it is not needed
};

struct journal_counters {
    uint64_t written;  // records of the core
    uint64_t migrated; // jobs and memos that compaction has copied
    uint64_t errors;
};

struct journal {
    struct journal_settings settings; // segment_size is the effective one
    struct storage *storage;
    struct broker *broker;
    struct opening_counters progress;
    bool opened;  // the core appends
    bool closing; // everything is synced from now on

    struct segments segments;
    struct log_batches batches;
    struct positions position;
    struct task_slot slot;
    struct ledger ledger;
    struct ids ids;
    struct batch_pace pace;
    struct failure failure;
    struct maintenance maintenance;
    struct compaction compaction;
    struct end_mark end_mark;
    struct journal_counters counters;
    struct journal_stats stats;
};

#endif
