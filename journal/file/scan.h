/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_SCAN_H
#define TANDEM_JOURNAL_FILE_SCAN_H

// Reads the file of a segment record by record through a buffer, and searches it for records where
// it is damaged. One scan serves many files, one after the other.
//
// Bytes that cannot be read are an error, unless the scan passes over them: then they count as
// bytes that are not a record.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "journal/codec.h"
#include "journal/file/disk.h"
#include "journal/journal_private.h"

enum scan_step {
    SCAN_RECORD, // a valid record
    SCAN_BAD,    // no valid record at this place
    SCAN_END,    // the limit is reached
    SCAN_FAILED  // see scan->error
};

struct scan {
    const struct journal_io *io;
    int file; // -1: none is open
    uint64_t salt;
    uint64_t limit;                    // nothing beyond it is read
    uint64_t at;                       // where the next record is expected
    uint64_t record_at;                // where the last one began
    bool pass_over;                    // bytes that cannot be read are passed over
    struct opening_counters *progress; // counts bytes read; if it says stop: ECANCELED
    int error;                         // an errno value; ENOMEM: no memory
    uint64_t error_at;                 // the offset of the error

    char *window;       /* private: the buffer */
    size_t window_size; /* private */
    uint64_t window_at; /* private: the offset of its first byte in the file */
    size_t filled;      /* private */
    struct blob *blob;  /* private: the body of the last record, if it is large */
};

// For files of about `segment_size` bytes; any size can be read. False without memory.
// scan_finish() is to be called in any case.
bool scan_begin(struct scan *scan, const struct journal_io *io, uint64_t segment_size,
                struct opening_counters *progress) MUST_USE;
void scan_finish(struct scan *scan);

// Opens a file and returns its size, which becomes the limit. 0 or an errno value.
int scan_open(struct scan *scan, const char *name, uint64_t *size) MUST_USE;
void scan_close(struct scan *scan);

// Continues at that offset, for records of that salt.
void scan_start(struct scan *scan, uint64_t at, uint64_t salt);

// Reads bytes as they are. 0 or an errno value; EIO if the file is too short.
int scan_bytes(struct scan *scan, char *to, size_t len, uint64_t offset) MUST_USE;

// Reads the next record and advances. What it refers to is valid until the next call.
enum scan_step scan_next(struct scan *scan, struct codec_record *record) MUST_USE;

// Reads a record of that type; of any other, checks only the head. Advances in both cases.
enum scan_step scan_next_of(struct scan *scan, enum codec_type type,
                            struct codec_record *record) MUST_USE;

// Searches after the expected place, up to `until`, for the next valid record, and reads it. Never
// SCAN_BAD.
enum scan_step scan_search(struct scan *scan, uint64_t until, struct codec_record *record) MUST_USE;

// The end of the last byte that is not zero; scan->at if all are zero from there on. False:
// scan->error.
bool scan_rest(struct scan *scan, uint64_t *end) MUST_USE;

// Reads the bytes from `offset` to `end` and writes them back: after a failed sync the system may
// take them for written, and would otherwise not sync them. 0 or an errno value.
int scan_write_back(const struct scan *scan, uint64_t offset, uint64_t end) MUST_USE;

#endif
