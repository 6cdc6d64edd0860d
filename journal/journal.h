/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_JOURNAL_H
#define TANDEM_JOURNAL_JOURNAL_H

// The journal: a store (core/record.h) that keeps durable jobs in files, so that what a client was
// told survives the process, the machine's power and, as far as can be, its disk.
//
// What the core appends is gathered in a batch. At the end of a turn the batch is handed to a
// thread, which writes it, and syncs it as the operator asked; what is appended meanwhile is the
// next batch. A batch's number is the log position that output which depends on it waits for. The
// loop itself never waits for the disk.
//
// Space. Each file has its space set aside before it is written to, and so has the next one, the
// spare. Bytes for what a live job may still need (a burial, an end) are reserved when it is
// accepted, and submissions are refused where that cannot be done. While the disk has no space for
// a spare, submissions are refused altogether: what is left is for reserved bytes and compaction.
//
// Compaction. When records take much more than what live jobs need, the jobs of the oldest file
// are written anew, a few each turn, and it is removed.
//
// Errors. A file that cannot be written or synced is given up: what is not known to have reached
// the disk is written anew, from memory, to the next file. After `fail_for` without success the
// journal gives up those who wait (journal_gave_up), refuses submissions, lets completions through
// unrecorded for now, and goes on trying.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/record.h"
#include "journal/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;

struct journal_settings {
    nsec_t sync_every_for; // 0: before anybody is told; NSEC_NEVER: the system decides
    uint64_t segment_size; // bytes of a file; a job too large for that has a larger file
    uint64_t step_size;    // most bytes of a file that are set aside or freed at a time; 0: 16 MB
    size_t max_pending;    // bytes that wait for the disk before submitters are not read
    nsec_t fail_for;       // how long nothing may succeed before those who wait are given up
    uint64_t secret;       // random
    nsec_t (*now)(void);   // the monotonic clock of the broker
    const char *host;      // the name of this one, for a journal that begins; NULL: unknown
    bool repair;           // a damaged journal is taken over as far as it is good
};

extern const struct recorder journal_recorder; // its store is the struct journal

// What keeps it takes over (journal/file/store.h). NULL where that is NULL, or without memory: it
// is freed then. The worker thread must outlive the journal.
struct storage;
struct journal *journal_new(const struct journal_settings *settings, struct storage *storage,
                            const struct journal_worker *worker) MUST_USE;

// Frees a storage that no journal has taken over.
void journal_discard(struct storage *storage);

// Claims the directory, gives the broker back what was kept, and prepares for more; waits for the
// disk. A thread that is not the loop's may do it, the worker thread's also, to which nobody else
// touches the journal and the broker meanwhile. False with the reason: another process has the
// directory, the disk refuses, the files are damaged (unless `repair`), there is no memory.
bool journal_open(struct journal *journal, struct broker *broker, struct error_text *why) MUST_USE;

// How far journal_open() is, which another thread is at.
struct journal_progress {
    uint64_t read; // bytes, at most `size`
    uint64_t size; // of the files that are read; 0: not known yet
    uint64_t jobs; // that the broker has been given back, about
};
void journal_progress(const struct journal *journal, struct journal_progress *progress);
// Has it return soon, most likely false: it goes on for as long as the disk takes for one thing.
void journal_stop_opening(struct journal *journal);

// The name of the host on which the open journal began, as it is known; empty: unknown. Handles of
// jobs that are in it may bear that name. Valid until the journal is closed.
const char *journal_host(const struct journal *journal);

// The end of a turn: takes in what the worker thread has done, and hands over what there is to do.
void journal_turn(struct journal *journal);

// What it has done so far, and how many segments there are. Not while it is being opened.
struct journal_figures;
const struct journal_figures *journal_figures(const struct journal *journal);
uint64_t journal_segments(const struct journal *journal);

// The log position that has been reached: output that waits for it, or a lower one, may leave.
uint64_t journal_reached(const struct journal *journal);

// When the next turn must come even if nothing else happens, by the broker's monotonic clock; a
// moment that has passed where work is left over, NSEC_NEVER where nothing is to be done.
nsec_t journal_next_due(const struct journal *journal);

enum journal_pressure {
    JOURNAL_EASY,
    JOURNAL_BEHIND, // no more submissions, please: much waits for the disk
    JOURNAL_STUCK   // nothing that appends, please: memory set aside for it runs out
};
enum journal_pressure journal_pressure(const struct journal *journal);

// True once each time that the journal gives up: who waits for a position that has not been reached
// will not be answered.
bool journal_gave_up(struct journal *journal);

// The machine has been suspended, and the broker was told of the present: from now on the disk has
// its time once more.
void journal_resumed(struct journal *journal);

// Whether another process has what it is kept in: nothing that has not been reached ever will be.
bool journal_is_lost(const struct journal *journal);

// Writes and syncs everything, waiting for the disk, lets the directory go and frees the journal.
// False where not everything could be made to last. NULL is allowed. The broker must still be
// there.
bool journal_close(struct journal *journal);

#endif
