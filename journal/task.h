/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_TASK_H
#define TANDEM_JOURNAL_TASK_H

// One thing that is to be done to the disk, or a database, and may take long: it is handed to a
// worker thread (worker.h), which does it, and says how it went. Until then nobody else touches the
// task, the batch, or the segments that it names.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "journal/batch.h"

#include <stdbool.h>
#include <stdint.h>

struct about; // journal/file/about.h

enum task_kind {
    TASK_WRITE,   // the batch, then, with `sync`, the last segment that it touches. A segment that
                  // is not published yet is, before the first of its records is written, and what
                  // was written to the one before it is synced before that
    TASK_SYNC,    // `segment`, as far as it was written
    TASK_PREPARE, // makes the spare file, `size` bytes set aside: segment->file, ->size; goes on
                  // with it where it is open
    TASK_RESIZE,  // `segment` has `size` bytes set aside now; more or fewer. segment->size, which
                  // the loop goes on to look at, is for the loop to change
    TASK_REMOVE,  // the file of `segment`, which is closed; a damaged one is only given another
                  // name. One larger than `size` loses its name, and stays open: segment->file
    TASK_SHED, // `segment`, whose file is to go, has no more than `size` bytes from now on. At 0,
               // or where that cannot be done, it is closed: segment->file. Cannot fail
    TASK_KEEP, // `about`, in the file of that name. It may take until the directory is synced for
               // something else that a power cut does not undo it
    TASK_RENEW // the claim to what the journal is kept in, where that lapses
};

struct task {
    enum task_kind kind;
    bool sync;
    struct segment *segment;
    struct batch *batch;
    struct segment *before;    // WRITE: the segment that was written to until now; NULL for none
    const struct about *about; // KEEP
    uint64_t size;             // WRITE: so many zeros may be written ahead; otherwise as said above
    // The outcome.
    int error;           // 0, or an errno value
    const char *failed;  // what it was that failed: "write", "sync" ...; static; NULL: nothing
    struct segment *bad; // whose file it was, NULL where none of the batch's
    unsigned syncs;      // of segments, that were made, good or not
    nsec_t synced_for;   // how long these took, by the system's monotonic clock
    nsec_t took_for;     // by the clock that the worker thread was given
};

// Who carries tasks out. Called by the worker thread.
struct task_runner {
    const void *self;
    void (*run)(const void *self, struct task *task);
};

#endif
