/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_WORKER_H
#define TANDEM_JOURNAL_WORKER_H

// Tasks of the journal, and the thread that runs them, so that the loop never waits for a disk or a
// database. One task at a time: until it is done, no other thread touches the task, or the batch
// and the segments that it names.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "journal/log_batch.h"

#include <stdbool.h>
#include <stdint.h>

struct manifest; // journal/file/manifest.h

enum task_kind {
    TASK_WRITE,   // Writes the batch; with `sync`, syncs the last segment that it touches. A
                  // segment that is not published yet is published before the batch's records in
                  // the next segment are written; the segment before is synced first.
    TASK_SYNC,    // Syncs `segment` as far as it was written.
    TASK_PREPARE, // Creates the spare file with `size` bytes allocated, and sets segment->file, or
                  // goes on with it if it is open. The loop, which goes on reading segment->size,
                  // changes that itself.
    TASK_RESIZE, // Allocates or frees space, so that `segment` has `size` bytes. segment->size: the
                 // same.
    TASK_REMOVE, // Removes the file of `segment`, which is closed; a damaged one is only renamed.
                 // A file larger than `size` loses its name and stays open: segment->file.
    TASK_FREE_SPACE, // Shrinks a file without a name to `size` bytes. At 0, or on an error, closes
                     // it: segment->file. Cannot fail.
    TASK_MANIFEST, // Writes `manifest`. It may take until the next sync of the directory before the
                   // change survives a power failure.
    TASK_RENEW_LEASE // Renews the claim to a storage where claims expire.
};

struct task {
    enum task_kind kind;
    bool sync;
    struct segment *segment;
    struct log_batch *batch;
    struct segment *before;          // WRITE: the segment that was written to last; NULL: none
    const struct manifest *manifest; // MANIFEST
    uint64_t size;                   // WRITE: most zeros to be written ahead; otherwise see above
    // Results.
    int error;           // 0, or an errno value
    const char *failed;  // the operation that failed: "write", "sync" ...; static; NULL: none
    struct segment *bad; // the segment whose file failed; NULL: none of the batch's
    unsigned syncs;      // number of syncs of segments, failed ones included
    nsec_t synced_for;   // how long these took, by the system's monotonic clock
    nsec_t took_for;     // by the clock that the worker thread was given
};

// Runs tasks for one storage. Called by the worker thread.
struct task_runner {
    const void *self;
    void (*run)(const void *self, struct task *task);
};

// The worker as the journal sees it: a thread or, in tests, the caller itself.
struct journal_worker {
    void *self;
    // Hands a task over; the worker owns it until `done` returns true.
    void (*give)(void *self, struct task *task);
    // Whether the last task is done.
    bool (*done)(void *self);
    // Waits until it is.
    void (*wait)(void *self);
};

// A worker thread. It calls `wake` each time a task is done; `wake` must be safe to call from there
// (for example a write to an eventfd). `now` reads a monotonic clock, for task->took_for. Returns 0
// or an errno value.
struct worker_thread;
int worker_thread_new(struct worker_thread **thread, const struct task_runner *runner,
                      nsec_t (*now)(void), void (*wake)(void *context), void *context) MUST_USE;
struct journal_worker worker_thread_interface(struct worker_thread *thread);
// Makes the thread call `call` as if it were a task; `wake` is called when it has returned. Tasks
// given from within the call run at once. The thread must be idle.
void worker_thread_call(struct worker_thread *thread, void (*call)(void *context), void *context);
bool worker_thread_idle(const struct worker_thread *thread);
// Ends the thread after its current task. NULL is allowed.
void worker_thread_free(struct worker_thread *thread);

#endif
