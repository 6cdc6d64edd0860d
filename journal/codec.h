/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_CODEC_H
#define TANDEM_JOURNAL_CODEC_H

// Records as bytes, and back. FORMAT.md beside this file says what each byte means. All numbers
// are little-endian; every record begins at a multiple of 8 bytes and is padded with zeros to one.
//
// A record has a head of 16 bytes: a checksum of the rest of the head, a checksum of the data and
// their padding, the length of the data, the type. Both are CRC32C, begun with a half of the
// segment's salt each and with the record's place in the file: a record that stands anywhere else
// than where it was written does not check, nor does one that was made up by somebody who does not
// know the salt, such as the submitter of a body that looks like records.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/memo.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODEC_VERSION 5
#define CODEC_VERSION_OLDEST 1 // that is read
#define CODEC_VERSION_UNITS 4  // the first in which units have heads of their own
#define CODEC_VERSION_UNSURE 2 // since then heads may say previous_unsure
#define CODEC_HEAD 16          // of a record
#define CODEC_SEGMENT_HEAD 72  // of a segment: its first record begins here
// Whole records, with head and padding.
#define CODEC_CHANGE_SIZE 64
#define CODEC_END_SIZE 24
#define CODEC_NUMBER_SIZE 24
#define CODEC_JOB_FIXED 88 // with head, before what differs in length
// The names of a job's queue, key and reducer, and its past: all but its body of what differs in
// length.
#define CODEC_NAMES_MAX (4 * 512 + DEAD_LETTER_FIXED_LEN)
// The highest id that a record can have.
#define CODEC_ID_MAX ((UINT64_C(1) << 48) - 1)
#define CODEC_MEMO_NUMBER_MAX ((UINT64_C(1) << 62) - 1)

enum codec_type {
    CODEC_JOB = 1, // a full record
    CODEC_RELEASE,
    CODEC_BURY,
    CODEC_KICK,
    CODEC_TAKE,
    CODEC_END,     // a job's id
    CODEC_PAUSE,   // of a queue
    CODEC_IDS,     // ids below this number have perhaps been given out
    CODEC_SYNCED,  // this segment was synced up to this offset when the record was written
    CODEC_DROPPED, // the segments up to this number are not needed any more
    CODEC_START,   // ready or delayed, earlier than before; since version 2
    CODEC_SET,     // another priority or delay, as an operator wishes; since version 3
    CODEC_MOVE,    // to another queue; since version 3, with a past since version 4
    CODEC_MEMO,    // what is remembered besides jobs; since version 4
    CODEC_LAST = CODEC_MEMO
};

// Whole sizes, with head and padding.
static inline size_t codec_padded(size_t len)
{
    return (len + 7) & ~(size_t)7;
}
static inline size_t codec_job_size(size_t variable_len)
{
    return codec_padded(CODEC_JOB_FIXED + variable_len);
}
static inline size_t codec_pause_size(size_t name_len)
{
    return codec_padded(CODEC_HEAD + 24 + name_len);
}
// `past_size`: as dead_letter_len().
static inline size_t codec_move_size(size_t name_len, size_t past_size)
{
    return codec_padded(CODEC_HEAD + 52 + name_len + past_size);
}

// These write a record without its checksums to `to`, all of it, padding included. codec_put_job()
// leaves the body and the padding out where `!with_body`; it returns how much it wrote.
size_t codec_put_job(char *to, const struct job_image *image, bool with_body);
void codec_put_change(char *to, enum codec_type type, const struct job_change *change);
void codec_put_number(char *to, enum codec_type type, uint64_t number); // END, IDS, SYNCED, DROPPED
void codec_put_pause(char *to, struct slice name, nsec_t pause_for, nsec_t until_at);
// `kept`: the queue of that name stays when it is empty. `past`: that the job has there.
void codec_put_move(char *to, const struct job_change *change, struct slice name, bool kept,
                    const struct dead_letter *past);

// Fills in the checksums of the record at `record`, of which `len` bytes stand there and the rest,
// where it has more, in `tail` and in zeros up to its padding.
void codec_seal(char *record, size_t len, struct slice tail, uint64_t salt, uint64_t offset);

// The whole size of the record, and its type, as its head, which need not be checked yet, says.
uint64_t codec_record_size(const char *head);
uint8_t codec_record_type(const char *head);

// Where the body of a job begins and how long it is, as its first CODEC_JOB_FIXED bytes, of which
// only the head is checked, say. False where that does not add up.
bool codec_job_body(const char *fixed, size_t *start, size_t *len);

struct codec_record {
    enum codec_type type;
    struct job_image job;           // JOB; slices point into the bytes
    struct job_change change;       // RELEASE, BURY, KICK, TAKE, START, SET, MOVE
    uint64_t number;                // END, IDS, SYNCED, DROPPED
    struct slice name;              // PAUSE, MOVE
    bool queue_kept;                // MOVE
    struct dead_letter dead_letter; // MOVE
    nsec_t pause_for, until_at;
    struct memo memo; // MEMO; slices point into the bytes
    bool forgotten;   // MEMO: it was dropped, and only kind and key say which
};

// Whether these CODEC_HEAD bytes are the head of a record of this salt at this offset.
bool codec_head_good(const char *head, uint64_t salt, uint64_t offset);

// Reads the record of codec_record_size() bytes, whose head is good; `*record` is set. False where
// its data do not check, or say what no job can be.
bool codec_read(const char *bytes, uint64_t salt, uint64_t offset,
                struct codec_record *record) MUST_USE;

// The same for a job whose body, as codec_job_body() told it, stands elsewhere, and so does its
// padding, of less than 8 bytes.
bool codec_read_job(const char *bytes, struct slice body, const char *padding, uint64_t salt,
                    uint64_t offset, struct codec_record *record) MUST_USE;

struct segment_head {
    uint64_t number;
    uint64_t salt;
    uint64_t previous;     // number of the segment before it, 0 for none
    uint64_t previous_end; // where that one's records end
    bool previous_unsure;  // ... or earlier: not all of it could be synced
    uint64_t ids_end;
    uint64_t created_ms; // wall clock
};

void codec_put_segment_head(char to[CODEC_SEGMENT_HEAD], const struct segment_head *head);

// The head of a unit, which is a segment in a database. It stands in the place of the segment's.
struct unit_head {
    uint64_t number;
    uint64_t salt;
    uint64_t owner;      // a random number of the process that began it; 0: unknown
    uint32_t history;    // of the lease, from this unit on
    uint64_t anew_below; // all that lives is being written again to units from this number on
    uint64_t ids_end;
    uint64_t created_ms; // wall clock
};

void codec_put_unit_head(char to[CODEC_SEGMENT_HEAD], const struct unit_head *head);

enum codec_head { CODEC_HEAD_GOOD, CODEC_HEAD_BAD, CODEC_HEAD_OTHER_VERSION };
enum codec_head codec_read_segment_head(const char from[CODEC_SEGMENT_HEAD],
                                        struct segment_head *head) MUST_USE;

// Units that were begun before units had heads of their own have those of segments.
enum codec_head codec_read_unit_head(const char from[CODEC_SEGMENT_HEAD],
                                     struct unit_head *head) MUST_USE;

// Puts a head right of which one byte is wrong: its checksum says which. False where that is not
// all that is wrong.
bool codec_mend_segment_head(char head[CODEC_SEGMENT_HEAD]) MUST_USE;

#endif
