/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_CODEC_LAYOUT_H
#define TANDEM_JOURNAL_CODEC_LAYOUT_H

// Private to the codec and the manifest: the offset of each field, and how numbers and checksums
// are read from bytes. FORMAT.md says the same in prose.

#include "journal/codec.h"

#include <isa-l/crc.h>

#include <endian.h>
#include <string.h>

// Offsets in a record's head:
enum {
    HEAD_SUM = 0,
    HEAD_DATA_SUM = 4,
    HEAD_LEN = 8,
    HEAD_TYPE = 12,
    HEAD_ZERO8 = 13,
    HEAD_ZERO16 = 14
};
// Offsets in a job's data; a change shares some of them:
enum { JOB_ID = 0, JOB_MOMENT = 8, JOB_CREATED = 16, JOB_PRI = 24, JOB_DELAY = 28, JOB_TTR = 32 };
enum { JOB_RESERVES = 36, JOB_TIMEOUTS = 40, JOB_RELEASES = 44, JOB_BURIES = 48, JOB_KICKS = 52 };
enum { JOB_BODY_LEN = 56, JOB_ATTEMPTS = 60, JOB_MAX_ATTEMPTS = 62, JOB_QUEUE_LEN = 64 };
enum { JOB_KEY_LEN = 66, JOB_REDUCER_LEN = 68, JOB_STATE = 70, JOB_FLAGS = 71, JOB_NAMES = 72 };
enum { CHANGE_PRI = 16, CHANGE_DELAY = 20, CHANGE_ATTEMPTS = 24, CHANGE_STATE = 26 };
enum { CHANGE_FLAGS = 27, CHANGE_FIXED = 28 };
enum { MOVE_NAME_LEN = 28, MOVE_ZERO = 30, MOVE_FIXED = 32 };
// Since version 5, the job's counters follow the fixed part of a change and of a move.
enum { COUNT_RESERVES = 0, COUNT_TIMEOUTS = 4, COUNT_RELEASES = 8, COUNT_BURIES = 12 };
enum { COUNT_KICKS = 16, COUNTERS_LEN = 20 };
enum { NUMBER_LEN = 8 };
enum { PAUSE_UNTIL = 8, PAUSE_NAME_LEN = 16, PAUSE_ZERO = 18, PAUSE_NAME = 24 };
// Offsets in a memo's data:
enum { MEMO_NUMBER = 0, MEMO_UNTIL = 8, MEMO_VALUE_LEN = 16, MEMO_KEY_LEN = 20, MEMO_KIND = 22 };
enum { MEMO_FLAGS = 23, MEMO_KEY = 24 };
enum { MEMO_FORGOTTEN = 1 };
// Offsets in a dead letter, which follows the names of a job or the name of a move:
enum { PAST_AT = 0, PAST_ATTEMPTS = 8, PAST_QUEUE_LEN = 10, PAST_WHY = 12, PAST_ZERO = 13 };
enum { PAST_QUEUE = DEAD_LETTER_FIXED_LEN };
// Offsets in a segment's head:
enum { SEGMENT_VERSION = 8, SEGMENT_SIZE = 12, SEGMENT_NUMBER = 16, SEGMENT_SALT = 24 };
enum { SEGMENT_PREVIOUS = 32, SEGMENT_PREVIOUS_END = 40, SEGMENT_IDS_END = 48 };
// A bit of `previous_end`, since version 2.
#define PREVIOUS_UNSURE (UINT64_C(1) << 63)
enum { SEGMENT_CREATED = 56, SEGMENT_SUM = 64, SEGMENT_ZERO = 68 };

enum {
    FLAG_ON_WALL = 1,
    FLAG_KEYED = 2,
    FLAG_DROP_ON_FAIL = 4,
    FLAG_BACK_ON_LOSS = 8,
    FLAG_QUEUE_KEPT = 16,
    FLAG_KEY_KIND = 32, // and the bit above
    KEY_KIND_MOST = 3,
    FLAG_PAST = 128,  // since version 4
    FLAG_COUNTED = 4, // of a change with counters; since version 5
    FLAGS_CHANGE = 7, // allowed in a change
    FLAGS_MOVE = FLAGS_CHANGE | FLAG_QUEUE_KEPT | FLAG_PAST
};

// States as they are stored; the core numbers its own independently. Since version 5, a delay that
// no submitter asked for is a separate state.
enum { STATE_READY = 1, STATE_DELAYED = 2, STATE_BURIED = 3, STATE_IMPOSED = 4 };

// The latest time of submission that fits, in milliseconds.
#define CREATED_MAX ((UINT64_C(1) << 42) - 1)

// Offsets in a unit's head where it differs from a segment's:
enum { UNIT_OWNER = SEGMENT_PREVIOUS, UNIT_HISTORY = SEGMENT_PREVIOUS_END };
enum { UNIT_ANEW = SEGMENT_PREVIOUS_END + 4 };

#define SEGMENT_MAGIC "TANDEMJ\n" // without its NUL
#define UNIT_MAGIC "TANDEMU\n"

static inline void put16(char *to, uint16_t value)
{
    value = htole16(value);
    memcpy(to, &value, sizeof value);
}

static inline void put32(char *to, uint32_t value)
{
    value = htole32(value);
    memcpy(to, &value, sizeof value);
}

static inline void put64(char *to, uint64_t value)
{
    value = htole64(value);
    memcpy(to, &value, sizeof value);
}

static inline uint8_t get8(const char *from)
{
    return (uint8_t)*from;
}

static inline uint16_t get16(const char *from)
{
    uint16_t value;

    memcpy(&value, from, sizeof value);
    return le16toh(value);
}

static inline uint32_t get32(const char *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof value);
    return le32toh(value);
}

static inline uint64_t get64(const char *from)
{
    uint64_t value;

    memcpy(&value, from, sizeof value);
    return le64toh(value);
}

//
// Checksums
//

// The library takes lengths as int, and a pointer that is not const.
static inline uint32_t sum_more(uint32_t sum, const char *bytes, size_t len)
{
    const size_t most = (size_t)1 << 30;

    while (len > most) {
        sum = crc32_iscsi((unsigned char *)(uintptr_t)bytes, (int)most, sum);
        bytes += most;
        len -= most;
    }
    return len ? crc32_iscsi((unsigned char *)(uintptr_t)bytes, (int)len, sum) : sum;
}

// Each checksum is seeded with the record's offset and one half of the salt: guessing one of them
// does not help to forge the other.
static inline uint32_t head_seed(uint64_t salt, uint64_t offset)
{
    return (uint32_t)salt ^ (uint32_t)(offset / 8);
}

static inline uint32_t data_seed(uint64_t salt, uint64_t offset)
{
    return (uint32_t)(salt >> 32) ^ (uint32_t)(offset / 8);
}

static inline uint32_t head_sum(const char *head, uint64_t salt, uint64_t offset)
{
    return ~sum_more(head_seed(salt, offset), head + HEAD_DATA_SUM, CODEC_HEAD - HEAD_DATA_SUM);
}

// The checksum of a segment's head.
static inline uint32_t segment_sum(const char *head)
{
    return ~sum_more(UINT32_MAX, head, SEGMENT_SUM);
}

//
// What writing and reading share
//

// How the reasons of dead letters are stored; the core numbers its own independently.
static const enum dead_reason codec_dead_reasons[] = {DEAD_NOT, DEAD_ATTEMPTS, DEAD_FAILED,
                                                      DEAD_EXCEPTION, DEAD_EXPIRED};
#define CODEC_DEAD_REASONS (sizeof codec_dead_reasons / sizeof *codec_dead_reasons)

#endif
