/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_CODEC_H
#define TANDEM_JOURNAL_CODEC_H

// Encodes records as bytes, and decodes them. FORMAT.md beside this file specifies each byte. All
// numbers are little-endian; every record begins at a multiple of 8 bytes and is padded with zeros
// to one.
//
// A record has a head of 16 bytes: a checksum of the rest of the head, a checksum of the data and
// their padding, the length of the data, and the type. Both checksums are CRC32C, each seeded with
// one half of the segment's salt and with the record's offset. So a record is valid only where it
// was written, and a client that does not know the salt cannot forge one, for example in a job's
// body.

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
#define CODEC_VERSION_UNSURE 2 // the first whose heads may have previous_unsure
#define CODEC_HEAD 16          // of a record
#define CODEC_SEGMENT_HEAD 72  // of a segment: its first record begins here
// Sizes of whole records, with head and padding.
#define CODEC_CHANGE_SIZE 64
#define CODEC_END_SIZE 24
#define CODEC_NUMBER_SIZE 24
#define CODEC_JOB_FIXED 88  // with head, before the parts of variable length
#define CODEC_MEMO_FIXED 40 // with head, before the key
// Most bytes of a job's queue, key and reducer and its dead letter: all parts of variable length
// but the body.
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
    CODEC_IDS,     // ids below this number may have been given out
    CODEC_SYNCED,  // this segment was synced up to this offset when the record was written
    CODEC_DROPPED, // the segments up to this number are no longer needed
    CODEC_START,   // ready or delayed, earlier than before; since version 2
    CODEC_SET,     // another priority or delay, set by an operator; since version 3
    CODEC_MOVE,    // to another queue; since version 3, with a dead letter since version 4
    CODEC_MEMO,    // a memo is set or dropped; since version 4
    CODEC_LAST = CODEC_MEMO
};

// Sizes of whole records, with head and padding.
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
static inline size_t codec_memo_size(size_t key_len, size_t value_len)
{
    return codec_padded(CODEC_MEMO_FIXED + key_len + value_len);
}

// Bytes between the fixed part of a job's record and its body.
static inline size_t codec_names_len(const struct job_image *image)
{
    return image->queue.len + image->key.len + image->reducer.len +
           dead_letter_len(&image->dead_letter);
}

//
// Encoding: these write a record without its checksums, padding included
//

// Omits the body and the padding if `!with_body`; returns the bytes written.
size_t codec_put_job(char *to, const struct job_image *image, bool with_body);
void codec_put_change(char *to, enum codec_type type, const struct job_change *change);
void codec_put_number(char *to, enum codec_type type, uint64_t number); // END, IDS, SYNCED, DROPPED
void codec_put_pause(char *to, struct slice name, nsec_t pause_for, nsec_t until_at);
// `kept`: the queue of that name remains when it is empty. `past`: the job's dead letter there.
void codec_put_move(char *to, const struct job_change *change, struct slice name, bool kept,
                    const struct dead_letter *past);
// Omits the value and the padding if `!with_value`; returns the bytes written.
size_t codec_put_memo(char *to, const struct memo *memo, bool with_value);
// The record that drops a memo, of codec_memo_size(key_len, 0) bytes.
void codec_put_forget(char *to, enum memo_kind kind, struct slice key);

// Fills in the checksums of the record at `record`, of which `len` bytes are there; the rest is in
// `tail` and in zeros up to its padding.
void codec_seal(char *record, size_t len, struct slice tail, uint64_t salt, uint64_t offset);

//
// Decoding
//

// The whole size of the record and its type, from its head, which need not be checked yet.
uint64_t codec_record_size(const char *head);
uint8_t codec_record_type(const char *head);

// Where the body of a job begins and its length, from the first CODEC_JOB_FIXED bytes, of which
// only the head is checked. False if the lengths are inconsistent. The same for the value of a
// memo.
bool codec_job_body(const char *fixed, size_t *start, size_t *len);
bool codec_memo_value(const char *fixed, size_t *start, size_t *len);

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
    bool forgotten;   // MEMO: it was dropped; only kind and key are set
};

// Whether these CODEC_HEAD bytes are the head of a record of this salt at this offset.
bool codec_head_good(const char *head, uint64_t salt, uint64_t offset);

// Decodes the record of codec_record_size() bytes, whose head is good; `*record` is set. False if
// its data do not match the checksum or are impossible.
bool codec_read(const char *bytes, uint64_t salt, uint64_t offset,
                struct codec_record *record) MUST_USE;

// The same for a job or a memo whose body or value (codec_job_body(), codec_memo_value()) is
// elsewhere, as is its padding, of less than 8 bytes.
bool codec_read_job(const char *bytes, struct slice body, const char *padding, uint64_t salt,
                    uint64_t offset, struct codec_record *record) MUST_USE;
bool codec_read_memo_parts(const char *bytes, struct slice value, const char *padding,
                           uint64_t salt, uint64_t offset, struct codec_record *record) MUST_USE;

//
// Heads of segments
//

struct segment_head {
    uint64_t number;
    uint64_t salt;
    uint64_t previous;     // number of the segment before it, 0 for none
    uint64_t previous_end; // where that segment's records end
    bool previous_unsure;  // ... or earlier: not all of it could be synced
    uint64_t ids_end;
    uint64_t created_ms; // wall clock
};

// The head of a unit, which is a segment in a database, instead of the segment's.
struct unit_head {
    uint64_t number;
    uint64_t salt;
    uint64_t owner;        // a random number of the process that began it; 0: unknown
    uint32_t history;      // of the lease, from this unit on
    uint64_t rewrite_from; // live content is being rewritten to units from this number on; 0: no
    uint64_t ids_end;
    uint64_t created_ms; // wall clock
};

void codec_put_segment_head(char to[CODEC_SEGMENT_HEAD], const struct segment_head *head);

enum codec_head { CODEC_HEAD_GOOD, CODEC_HEAD_BAD, CODEC_HEAD_OTHER_VERSION };
enum codec_head codec_read_segment_head(const char from[CODEC_SEGMENT_HEAD],
                                        struct segment_head *head) MUST_USE;
// Also reads the older units that have the head of a segment.
enum codec_head codec_read_unit_head(const char from[CODEC_SEGMENT_HEAD],
                                     struct unit_head *head) MUST_USE;

// Corrects a head in which one byte is wrong, found by its checksum. False if more is wrong.
bool codec_mend_segment_head(char head[CODEC_SEGMENT_HEAD]) MUST_USE;

// Encodes the head of a segment that begins: as a file, and as a unit of a database.
struct segment;
void segment_put_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment);
void segment_put_unit_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment);

#endif
