/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_PACKET_H
#define TANDEM_PROTO_GEARMAN_PACKET_H

// A packet is a header of 12 bytes (magic, type and length of the body, big-endian), then
// arguments divided by NUL. The last one ends where the body ends; where it may hold anything, NUL
// too, it is called the data here. Where it may not, it also ends at a NUL, and what follows that
// means nothing, since some write their last argument as C keeps its strings. A worker's report
// without data may lack the NUL behind the handle, as Perl's workers send it. SUBMIT_REDUCE_JOB has
// four arguments before the data in gearmand, and three in the protocol's own page: where no fourth
// NUL comes, what is behind the third is the data. Nothing in this file
// has side effects.

#include "core/base/slice.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GEAR_HEADER 12
#define GEAR_ARGS_MAX 7
// All arguments but the data may have so many bytes, with the NULs behind them.
#define GEAR_FIXED_MAX ((size_t)8192)

// Type, name, and for packets that a peer may send: the number of arguments before the data, and
// whether there is data.
#define GEAR_TYPES(X)                                                                              \
    X(1, CAN_DO, 1, false)                                                                         \
    X(2, CANT_DO, 1, false)                                                                        \
    X(3, RESET_ABILITIES, 0, false)                                                                \
    X(4, PRE_SLEEP, 0, false)                                                                      \
    X(7, SUBMIT_JOB, 2, true)                                                                      \
    X(9, GRAB_JOB, 0, false)                                                                       \
    X(12, WORK_STATUS, 3, false)                                                                   \
    X(13, WORK_COMPLETE, 1, true)                                                                  \
    X(14, WORK_FAIL, 1, false)                                                                     \
    X(15, GET_STATUS, 1, false)                                                                    \
    X(16, ECHO_REQ, 0, true)                                                                       \
    X(18, SUBMIT_JOB_BG, 2, true)                                                                  \
    X(21, SUBMIT_JOB_HIGH, 2, true)                                                                \
    X(22, SET_CLIENT_ID, 1, false)                                                                 \
    X(23, CAN_DO_TIMEOUT, 2, false)                                                                \
    X(24, ALL_YOURS, 0, false)                                                                     \
    X(25, WORK_EXCEPTION, 1, true)                                                                 \
    X(26, OPTION_REQ, 1, false)                                                                    \
    X(28, WORK_DATA, 1, true)                                                                      \
    X(29, WORK_WARNING, 1, true)                                                                   \
    X(30, GRAB_JOB_UNIQ, 0, false)                                                                 \
    X(32, SUBMIT_JOB_HIGH_BG, 2, true)                                                             \
    X(33, SUBMIT_JOB_LOW, 2, true)                                                                 \
    X(34, SUBMIT_JOB_LOW_BG, 2, true)                                                              \
    X(35, SUBMIT_JOB_SCHED, 7, true)                                                               \
    X(36, SUBMIT_JOB_EPOCH, 3, true)                                                               \
    X(37, SUBMIT_REDUCE_JOB, 4, true)                                                              \
    X(38, SUBMIT_REDUCE_JOB_BACKGROUND, 4, true)                                                   \
    X(39, GRAB_JOB_ALL, 0, false)                                                                  \
    X(41, GET_STATUS_UNIQUE, 1, false)

enum gear_type {
#define X(number, name, args, data) GEAR_##name = (number),
    GEAR_TYPES(X)
#undef X
    // Those that only a server sends.
    GEAR_NOOP = 6,
    GEAR_JOB_CREATED = 8,
    GEAR_NO_JOB = 10,
    GEAR_JOB_ASSIGN = 11,
    GEAR_ECHO_RES = 17,
    GEAR_ERROR = 19,
    GEAR_STATUS_RES = 20,
    GEAR_OPTION_RES = 27,
    GEAR_JOB_ASSIGN_UNIQ = 31,
    GEAR_JOB_ASSIGN_ALL = 40,
    GEAR_STATUS_RES_UNIQUE = 42
};
#define GEAR_TYPE_COUNT 43

// "\0REQ" and "\0RES", big-endian.
#define GEAR_MAGIC_REQ_NUMBER UINT32_C(0x00524551)
#define GEAR_MAGIC_RES_NUMBER UINT32_C(0x00524553)

enum gear_magic { GEAR_MAGIC_REQ, GEAR_MAGIC_RES, GEAR_MAGIC_BAD };

struct gear_head {
    enum gear_magic magic;
    uint32_t type; // any number
    uint32_t len;  // of the body
};

// What packets of a type that a peer may send are like, in a byte; 0: no peer may send any. In this
// header, as each packet that comes asks several times.
#define GEAR_SHAPE_ARGS 7u // how many arguments there are before the data
#define GEAR_SHAPE_KNOWN 8u
#define GEAR_SHAPE_DATA 16u
#define GEAR_SHAPE_NUL_MAY_LACK 32u // behind the last argument, where the body ends with it
#define GEAR_SHAPE_ARG_MAY_LACK 64u // the last argument: the protocol's own page leaves it out
extern const uint8_t gear_shapes[GEAR_TYPE_COUNT];

// Whether the first four bytes, or as many of them as there are, may begin a packet.
bool gear_magic_good(struct slice input);

// Reads a header; `input` has at least GEAR_HEADER bytes.
static inline struct gear_head gear_head_read(const char *input)
{
    uint32_t numbers[3];

    memcpy(numbers, input, sizeof numbers);
    return (struct gear_head){
        .magic = numbers[0] == htobe32(GEAR_MAGIC_REQ_NUMBER)   ? GEAR_MAGIC_REQ
                 : numbers[0] == htobe32(GEAR_MAGIC_RES_NUMBER) ? GEAR_MAGIC_RES
                                                                : GEAR_MAGIC_BAD,
        .type = be32toh(numbers[1]),
        .len = be32toh(numbers[2]),
    };
}

// How long the packet that leaves is that begins with these bytes, or the text up to the next
// packet; 0: there is not enough of it. See struct frontend.
size_t gear_message_len(struct slice start);

// Whether a peer may send packets of that type.
static inline bool gear_type_known(uint32_t type)
{
    return type < GEAR_TYPE_COUNT && gear_shapes[type] != 0;
}

// Of a type that is known: how many arguments its packets have before the data, and whether they
// have data.
static inline unsigned gear_type_args(uint32_t type)
{
    return gear_shapes[type] & GEAR_SHAPE_ARGS;
}

static inline bool gear_type_has_data(uint32_t type)
{
    return (gear_shapes[type] & GEAR_SHAPE_DATA) != 0;
}

// Whether they hand in a job: their first argument is its function. Reports, which have data as
// well, have the handle alone before it; an echo has nothing.
static inline bool gear_type_submits(uint32_t type)
{
    return gear_type_has_data(type) && gear_type_args(type) > 1;
}

// Of any type: whether they report about a job, and have data.
static inline bool gear_type_reports_data(uint32_t type)
{
    return gear_type_known(type) && gear_type_has_data(type) && gear_type_args(type) == 1;
}

struct blob;

struct gear_packet {
    enum gear_type type;
    struct slice args[GEAR_ARGS_MAX]; // as many of them as the type has are set
    struct slice data;
    struct blob *blob; // borrowed: holds the data, where that was gathered; else NULL
};

// Finds the arguments of a packet of that type in the part of its body that is there; `whole` says
// that it is all of it, as it must be if the type has no data. They borrow from `body`, and so does
// the data, which is what is there of it. False: they are not all there.
bool gear_packet_split(enum gear_type type, struct slice body, bool whole,
                       struct gear_packet *packet);

// The number that the text begins with, as C's strtol finds it, for workers are free in what they
// write: spaces and a sign may come first, anything may follow, and nothing is 0.
int64_t gear_number_read(struct slice text);

#endif
