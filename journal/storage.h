/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_STORAGE_H
#define TANDEM_JOURNAL_STORAGE_H

// The storage of the journal's segments: files in a directory (journal/file/) or rows of a database
// (journal/pg/). Batches, log positions, the ledger and compaction use it only by this table.
//
// The storage owns what a segment is kept in. When it is asked for maintenance, it gives a task to
// the worker thread (turn_give()), and is told when that is done. The thread that has the journal
// calls all functions, and only those that open and close may wait.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;
struct storage;
struct segment;

// The result of reading everything back.
struct restored {
    uint64_t ids_end; // ids below it may have been given out
    bool damaged;     // some damage was passed over
};

struct storage_ops {
    //
    // Opening and closing, which wait for the storage
    //

    // Claims the storage for this process, and gives its jobs to the broker and the ledger.
    // Afterwards the list has a segment for each number from the oldest to the youngest, all closed
    // and synced, each with its `end`. False with the reason.
    bool (*open)(struct journal *journal, struct restored *restored, struct error_text *why);
    // Makes the first segment to be written to the current one. False with the reason.
    bool (*begin)(struct journal *journal, struct error_text *why);
    // Everything is written and synced: frees unused space and records that the journal was closed
    // in good order. False: it turned out that written records are gone and must be written again;
    // to be called again then.
    bool (*tidy)(struct journal *journal);
    // Closes all segments and frees the storage itself.
    void (*free)(struct journal *journal);
    // Frees a storage that no journal has taken over.
    void (*discard)(struct storage *storage);

    //
    // Space
    //

    // Whether a record for which the current segment has no space beside the reserved bytes can
    // still be taken: by another segment, or later by this one.
    bool (*can_take)(const struct journal *journal, uint64_t size, uint64_t extra);
    // Whether there is a next segment with space for a record of that size beside the reserved
    // bytes and `beside` more.
    bool (*next_fits)(const struct journal *journal, uint64_t size, uint64_t beside);
    // Makes the next segment the current one, if that is better for the record.
    void (*move_on)(struct journal *journal, uint64_t size, uint64_t extra);
    // Whether there is a next segment; and whether it is too small for the job that compaction
    // waits to copy.
    bool (*has_next)(const struct journal *journal);
    bool (*next_too_small)(const struct journal *journal);
    // Bytes that are allocated or used.
    uint64_t (*bytes)(const struct journal *journal);

    //
    // Turns
    //

    // The current segment is not open: whether it can be written to, perhaps as a result of the
    // call.
    bool (*can_write)(struct journal *journal);
    // The next write may exceed the allocated space: gives a task that must be done before it;
    // false: none.
    bool (*before_write)(struct journal *journal);
    // A batch was written although the disk was full: the disk may have space now.
    void (*has_written)(struct journal *journal);
    // The worker thread could not write or sync. What is not safe is to be written again.
    void (*write_failed)(struct journal *journal);
    // Gives the next task of maintenance; false if there is none. And takes in its result.
    bool (*maintain)(struct journal *journal);
    void (*maintained)(struct journal *journal);
    // Most tasks of maintenance between a batch of `bytes` bytes and the next.
    uint64_t (*maintenance_share)(const struct journal *journal, uint64_t bytes);
    // When maintenance is due next, even if nothing else happens; NULL: never.
    nsec_t (*maintenance_due_at)(const struct journal *journal);
    // Whether another process owns the journal: nothing will be written any more. NULL: impossible.
    bool (*is_lost)(const struct journal *journal);
    // The journal was opened, but its first records cannot be written: makes it lost if another
    // opening may succeed. NULL: none would.
    void (*give_up_ownership)(struct journal *journal);
    // True if closing is not to wait for records that are not written yet. NULL: it always waits.
    bool (*abandons_close)(const struct journal *journal);
    // Closes the segment if it is open.
    void (*close)(const struct journal *journal, struct segment *segment);

    // Fills in what only the storage knows: `epoch`, `durable`, `replicated`. NULL: nothing.
    void (*info)(const struct journal *journal, struct store_info *info);
    // The name of the host on which the journal began; empty: unknown.
    const char *(*host)(const struct journal *journal);

    unsigned gather_share; // a batch waits for more records for 1/nth of the duration of a write
    uint64_t write_ahead;  // most zeros to be written after a batch that is synced at once
    size_t segments_most;  // compaction reduces a larger number of segments; 0: any number
    bool rewrites; // segments below `rewrite_from` are removed only after all of their live content
                   // was rewritten, and that is done before the journal is closed
    bool atomic;   // a batch is stored as a whole or not at all, so the end of the log is certain
};

// The first member of each kind of storage.
struct storage {
    const struct storage_ops *ops;
};

#endif
