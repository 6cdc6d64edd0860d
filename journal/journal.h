/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_JOURNAL_H
#define TANDEM_JOURNAL_JOURNAL_H

// The journal: a store (core/record.h) that keeps durable jobs in files or in rows of a database,
// so that an acknowledged job survives a crash of the process, a power failure and, as far as
// possible, the loss of a disk. A storage (journal/storage.h) holds its segments.
//
// Batches. Records that the core appends are gathered in a batch. At the end of a turn the batch
// goes to the worker thread, which writes it, and syncs it if the settings ask for that; records
// appended meanwhile form the next batch. A batch's number is the log position that dependent
// output waits for. The loop itself never waits for the storage.
//
// Space. In files, space is allocated before it is written to, also for the next segment, the
// spare. When a job is accepted, bytes are reserved for its burial and its end; a job for which
// that is not possible is refused. While the disk has no space for a spare, all submissions are
// refused: the rest is for reserved bytes and compaction. A database has no such limit.
//
// Compaction. When records take much more space than live jobs need, the jobs of the oldest segment
// are copied to the current one, a few in each turn, and the segment is removed.
//
// Errors. When a file cannot be written or synced, it is given up, and all records that may not
// have reached the disk are written again, from memory, to the next file. When a database cannot be
// reached, the batch is tried again. After `fail_for` without success the journal gives up the
// clients that wait (journal_gave_up), refuses submissions, and goes on trying. Completions are
// then accepted without being recorded yet, if no other process can take over the journal.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/record.h"
#include "core/restore.h"
#include "journal/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;

struct journal_settings {
    nsec_t sync_every_for; // 0: before any client is answered; NSEC_NEVER: the system decides
    uint64_t segment_size; // bytes; a job that is larger than that gets a larger segment
    uint64_t step_size;    // most bytes of a file that are allocated or freed at a time; 0: 16 MB
    size_t max_pending;    // bytes not yet written at which submitters are no longer read
    nsec_t fail_for;       // how long writing may fail before waiting clients are given up
    uint64_t secret;       // random
    nsec_t (*now)(void);   // the monotonic clock of the broker
    const char *host;      // this host's name, for a journal that begins; NULL: unknown
    bool repair;           // accept a damaged journal and keep what is good
};

extern const struct recorder journal_recorder; // its store is the struct journal

// Takes over the storage (journal/file/files.h, journal/pg/pg.h). Returns NULL if `storage` is NULL
// or there is no memory; the storage is freed then. The worker thread must outlive the journal.
struct storage;
struct journal *journal_new(const struct journal_settings *settings, struct storage *storage,
                            const struct journal_worker *worker) MUST_USE;

// Frees a storage that no journal has taken over.
void journal_discard(struct storage *storage);

// Claims the storage, gives the broker its jobs back and prepares for appending; waits for the
// storage. Any thread may call it, also the worker thread, while no other thread touches the
// journal and the broker. False with the reason: another process has the journal, the storage
// fails, the journal is damaged (unless `repair`), or there is no memory.
bool journal_open(struct journal *journal, struct broker *broker, struct error_text *why) MUST_USE;

// How far journal_open() is; any thread may ask.
void journal_progress(const struct journal *journal, struct restore_progress *progress);
// Makes journal_open() return soon, most likely with false: after the current call of the storage.
void journal_stop_opening(struct journal *journal);

// The name of the host on which the open journal began; empty: unknown. Handles of jobs in it may
// contain that name. Valid until the journal is closed.
const char *journal_host(const struct journal *journal);

// The end of a turn: takes in the results of the worker thread and gives it the next task.
void journal_turn(struct journal *journal);

// How values are distributed: `counts[i]` of them are above the limit before the i-th and at most
// the i-th; the last limit is INT64_MAX.
#define JOURNAL_BUCKETS 18
struct journal_histogram {
    uint64_t counts[JOURNAL_BUCKETS];
    uint64_t count;
    uint64_t sum;
};
// The limits of the buckets: 1, 2, 4 ... 65,536 records; 0.1, 0.2, 0.4 ms ... 6.6 s.
extern const int64_t journal_record_buckets[JOURNAL_BUCKETS];
extern const int64_t journal_sync_buckets[JOURNAL_BUCKETS];

// Counters since the journal was opened.
struct journal_stats {
    uint64_t batches;                       // written
    struct journal_histogram batch_records; // records per batch
    struct journal_histogram syncs; // duration of each sync in nanoseconds, also of failures
};
// Not while the journal is being opened.
const struct journal_stats *journal_stats(const struct journal *journal);
uint64_t journal_segments(const struct journal *journal);

// The log position that has been reached: output that waits for it or a lower one may leave.
uint64_t journal_reached(const struct journal *journal);

// When the next turn must come even if nothing else happens, by the broker's monotonic clock: in
// the past if work is left over, NSEC_NEVER if there is nothing to do.
nsec_t journal_next_due(const struct journal *journal);

enum journal_pressure {
    JOURNAL_EASY,
    JOURNAL_BEHIND, // accept no submissions: much waits to be written
    JOURNAL_STUCK   // accept nothing that appends: the memory set aside for records runs out
};
enum journal_pressure journal_pressure(const struct journal *journal);

// True once each time that the journal gives up: clients that wait for a position that has not been
// reached will get no answer.
bool journal_gave_up(struct journal *journal);

// Tells the journal that the machine was suspended, after the broker has been told the time: time
// limits of failures begin again.
void journal_resumed(struct journal *journal);

// Whether another process owns the journal: positions that have not been reached never will be.
bool journal_is_lost(const struct journal *journal);

// Writes and syncs everything, waiting for the storage, gives up the claim to it and frees the
// journal. False if not everything could be made durable. NULL is allowed. The broker must still
// exist.
bool journal_close(struct journal *journal);

#endif
