/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_SCAN_H
#define TANDEM_JOURNAL_FILE_SCAN_H

// A segment's file, read record by record through a window of memory, and searched for records
// where it is damaged. One scan serves many files, one after the other.
//
// Bytes that cannot be read are an error, unless the scan passes over them: they count as bytes
// that are no record then.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "journal/codec.h"
#include "journal/file/io.h"
#include "journal/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_step {
    SCAN_RECORD, // a record that checks
    SCAN_BAD,    // what stands there is no record that checks
    SCAN_END,    // nothing more up to the limit
    SCAN_FAILED  // scan->error says why
};

struct scan {
    const struct journal_io *io;
    int file; // -1: none is open
    uint64_t salt;
    uint64_t limit;            // nothing behind is looked at
    uint64_t at;               // where the next record is expected
    uint64_t record_at;        // where the last one began
    bool pass_over;            // what cannot be read is passed over
    struct progress *progress; // told of what is read; where it says stop: ECANCELED
    int error;                 // an errno value; ENOMEM: no memory
    uint64_t error_at;         // where it happened

    char *window;       /* private */
    uint64_t window_at; /* private: what its first byte is in the file */
    size_t filled;      /* private */
    struct blob *blob;  /* private: the body of the last record, where it is large */
};

// False without memory. scan_finish() frees, also what scan_begin() could not finish.
bool scan_begin(struct scan *scan, const struct journal_io *io, struct progress *progress) MUST_USE;
void scan_finish(struct scan *scan);

// Opens a file, and tells its size, which becomes the limit. 0 or an errno value.
int scan_open(struct scan *scan, const char *name, uint64_t *size) MUST_USE;
void scan_close(struct scan *scan);

// Goes on at that place, for records of that salt.
void scan_start(struct scan *scan, uint64_t at, uint64_t salt);

// Reads bytes as they are. 0 or an errno value; EIO where the file is too short.
int scan_bytes(struct scan *scan, char *to, size_t len, uint64_t offset) MUST_USE;

// Reads the record that is expected next, and steps behind it. What it refers to is valid until
// the next call.
enum scan_step scan_next(struct scan *scan, struct codec_record *record) MUST_USE;

// Looks only at the head and steps behind the record, unless it is of that type: such a one is
// read.
enum scan_step scan_next_of(struct scan *scan, enum codec_type type,
                            struct codec_record *record) MUST_USE;

// Searches on, from behind the place where a record is expected to `until`, for the next one that
// checks, and reads it. Never SCAN_BAD.
enum scan_step scan_search(struct scan *scan, uint64_t until, struct codec_record *record) MUST_USE;

// Where the last byte that is not zero ends; the place where a record is expected, if all is zero
// from there on. False: scan->error.
bool scan_rest(struct scan *scan, uint64_t *end) MUST_USE;

// Reads what stands from `offset` to `end`, and writes it there once more: what the system takes
// for written, though a sync has failed, is synced then. 0 or an errno value.
int scan_write_back(const struct scan *scan, uint64_t offset, uint64_t end) MUST_USE;

#endif
