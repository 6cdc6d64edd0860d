/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FAKE_DISK_H
#define TANDEM_TESTS_JOURNAL_FILE_FAKE_DISK_H

// A disk in memory for the journal (journal/file/disk.h) that fails, forgets and reports false
// success as the test demands.
//
// It distinguishes written from safe content. Bytes are safe once their file was synced, names once
// the directory was; a power cut loses the rest, all of it or a random part. After a failed sync,
// unsynced bytes count as clean, as in Linux: a later sync does not write them. Misuse (a file that
// is not open, a directory that is full) aborts.
//
// The allocator is not used, so a test that fails the n-th allocation fails one of the journal.

#include "journal/file/disk.h"
#include "tests/journal/file/fake_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_disk;

struct fake_disk *fake_disk_new(void);
// A copy of the disk: files, names, their safe states, the budget. No file of the copy is open, it
// is not locked, and it has no faults.
struct fake_disk *fake_disk_copy(const struct fake_disk *disk);
// NULL is allowed.
void fake_disk_free(struct fake_disk *disk);
struct journal_io fake_disk_io(struct fake_disk *disk);

//
// Faults
//

enum fake_op {
    FAKE_LOCK,
    FAKE_LIST,
    FAKE_OPEN,
    FAKE_SIZE,
    FAKE_READ,
    FAKE_WRITE,
    FAKE_SYNC,
    FAKE_ALLOCATE,
    FAKE_TRUNCATE,
    FAKE_RENAME,
    FAKE_REMOVE,
    FAKE_SYNC_DIRECTORY,
    FAKE_ANY // of them
};

enum fake_effect {
    FAKE_FAIL,  // it is not done, and says so
    FAKE_SHORT, // READ, WRITE: half of it is done, and reported
    FAKE_LIE,   // not executed, but reports success; not for calls that return data
    FAKE_TEAR,  // it is done, WRITE by half, and says that it failed
    FAKE_HALT   // the power fails: this call may be done, nothing is from now on, and all say EIO.
                // fake_disk_cut() decides what is left
};

struct fake_fault {
    enum fake_op op;
    unsigned long nth; // call of that kind, from now on; 1 is the next
    enum fake_effect effect;
    int error;    // FAIL, TEAR: errno value
    bool lasting; // also all later calls
};

// Adds a fault (8 at most).
void fake_disk_fault(struct fake_disk *disk, const struct fake_fault *fault);
// From now on, beside the faults that are set, one of `one_in` calls that change something fails by
// chance: writes are short, or torn, or fail, and all else fails. 0: none does.
void fake_disk_storm(struct fake_disk *disk, unsigned one_in, uint64_t seed);
// Takes all faults back, and ends a storm.
void fake_disk_heal(struct fake_disk *disk);

// The bytes that can be allocated in all files, UINT64_MAX at first. Allocated space stays.
void fake_disk_set_budget(struct fake_disk *disk, uint64_t bytes);

//
// The end of the process: all files are closed, and the directory is let go
//

// All written bytes survive.
void fake_disk_kill(struct fake_disk *disk);
// The power is cut. Of names that came and went since the directory was synced, SOME keeps those up
// to some moment. The same seed has the same outcome.
void fake_disk_cut(struct fake_disk *disk, enum fake_keep keep, uint64_t seed);

//
// A look at it
//

// The bytes of a file; `*len` is its size. NULL if no file has that name.
const char *fake_disk_bytes(const struct fake_disk *disk, const char *name, size_t *len);
// Bytes that are allocated in all files.
uint64_t fake_disk_used(const struct fake_disk *disk);
// Files that are open.
int fake_disk_opened(const struct fake_disk *disk);
// Calls so far of a kind, or of any.
unsigned long fake_disk_calls(const struct fake_disk *disk, enum fake_op op);

// The calls since the trace was cleared, a line each, such as "write spare 0+72", "rename spare
// journal.0000000001", and "sync spare = EIO" for a failed one; without LIST, SIZE and READ. Lines
// that do not fit are left out.
const char *fake_disk_trace(const struct fake_disk *disk);
void fake_disk_trace_clear(struct fake_disk *disk);

//
// Hands on it. The file must be there
//

// Puts a file there, safe, in place of one of that name.
void fake_disk_put(struct fake_disk *disk, const char *name, const void *bytes, size_t len);
// Flips the bits of `mask` in a byte of the file.
void fake_disk_flip(struct fake_disk *disk, const char *name, size_t offset, unsigned char mask);
// Reading that byte fails with EIO; UINT64_MAX: none does.
void fake_disk_break(struct fake_disk *disk, const char *name, uint64_t offset);

#endif
