/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_STORAGE_H
#define TANDEM_JOURNAL_STORAGE_H

// What keeps the journal's segments: files in a directory (journal/file/), or rows of a database
// (journal/pg/). Batches, log positions, the books and compaction know it only by this table.
//
// The storage owns what segments are kept in, and their fields for that; it gives tasks to the
// worker thread by turn_give(), when it is asked for upkeep, and is told when they are done. All of
// its functions are called by the thread that has the journal, and none of them waits, but for
// those that open and close.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;
struct error_text;
struct storage;
struct segment;

// What has come back.
struct restored {
    uint64_t ids_end; // ids below it have perhaps been given out
    bool damaged;     // something was passed over
};

struct storage_ops {
    //
    // Opening and closing, which wait for the disk
    //

    // Claims what the journal is kept in, for this process, and gives its jobs to the broker and
    // the books. Afterwards the row has a segment for each number from the oldest to the youngest,
    // all closed and synced, each with its `end`. False with the reason.
    bool (*open)(struct journal *journal, struct restored *restored, struct error_text *why);
    // The first segment to write to is the current one. False with the reason.
    bool (*begin)(struct journal *journal, struct error_text *why);
    // All is written and synced: gives back what is set aside, and says that the journal was
    // closed. False: something of that turns out to be gone, and is to be written first; call
    // again.
    bool (*tidy)(struct journal *journal);
    // Closes all segments, those of the row, too, and frees all that is its own, itself included.
    void (*free)(struct journal *journal);
    // Frees one that no journal has taken over.
    void (*discard)(struct storage *storage);

    //
    // Space
    //

    // Whether the record, which the current segment has no space for beside the reserved bytes, can
    // be taken nevertheless: by another segment, or later by this one.
    bool (*can_take)(const struct journal *journal, uint64_t size, uint64_t extra);
    // Whether the next segment, if there is one, has space for a record of that size beside the
    // reserved bytes and `beside` more.
    bool (*next_fits)(const struct journal *journal, uint64_t size, uint64_t beside);
    // Makes the next segment the current one, if it is better for that record.
    void (*move_on)(struct journal *journal, uint64_t size, uint64_t extra);
    // Whether there is a next segment; and whether it is too small for the job that compaction
    // waits to copy.
    bool (*has_next)(const struct journal *journal);
    bool (*next_lacks_copy)(const struct journal *journal);
    // Bytes that are set aside or used.
    uint64_t (*bytes)(const struct journal *journal);

    //
    // Turns
    //

    // The current segment is not open: whether it can be written to, which may come about here.
    bool (*can_write)(struct journal *journal);
    // What is to be written goes beyond what is set aside, perhaps: gives a task that must be done
    // before; false: none.
    bool (*before_write)(struct journal *journal);
    // A batch has been written, though the disk was full: it may have space now.
    void (*has_written)(struct journal *journal);
    // Gives the next task of upkeep; false where there is none. And takes in what became of it.
    bool (*upkeep_give)(struct journal *journal);
    void (*upkeep_take_in)(struct journal *journal);
    // How many of them may come between a batch of so many bytes and the next.
    uint64_t (*upkeep_after)(const struct journal *journal, uint64_t bytes);
    // The worker thread could not write to `bad`, or sync it, which ends where its `end` says now:
    // returns the current segment, empty, to which all that is not safe will be written.
    struct segment *(*replace)(struct journal *journal, struct segment *bad);
    // The same has happened: whether the batch can be written again where it was to be. NULL:
    // never.
    bool (*tries_again)(struct journal *journal);
    // When upkeep is due next, even if nothing else happens; NULL: never.
    nsec_t (*upkeep_due_at)(const struct journal *journal);
    // Whether another process has what the journal is kept in: nothing will be written any more.
    // NULL: that cannot be.
    bool (*is_lost)(const struct journal *journal);
    // It is opened, and its first records cannot be written: has it be lost where an opening anew
    // may do better. NULL: none will.
    void (*forsake)(struct journal *journal);
    // Whether a journal that is closed is not to wait for what is not written yet. NULL: it is.
    bool (*is_hopeless)(const struct journal *journal);
    // Closes the segment, if it is open.
    void (*close)(const struct journal *journal, struct segment *segment);

    // Says of the store what the storage alone knows: `epoch`, `durable`, `replicated`. NULL:
    // nothing.
    void (*tell)(const struct journal *journal, struct store_info *info);
    // The name of the host on which the journal began; empty: unknown.
    const char *(*host)(const struct journal *journal);

    unsigned gather_share; // a batch waits for others for 1/nth of the time that a write takes
    uint64_t write_ahead;  // so many zeros may be written behind a batch that is synced at once
    size_t segments_most;  // more than that compaction makes fewer; 0: any number
    bool renews; // what is unsound is written anew as a whole before any of it is removed, and
                 // before the journal is closed
    bool atomic; // a batch is there as a whole or not at all, and so is where the records end
};

// The first member of whatever it is.
struct storage {
    const struct storage_ops *ops;
};

#endif
