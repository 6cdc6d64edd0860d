/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_GEAR_PACKET_H
#define TANDEM_PROTO_GEARMAN_GEAR_PACKET_H

// Reading packets; without side effects. A packet is a header of 12 bytes (magic, type and length
// of the body, big-endian) and arguments separated by NUL. The last argument ends where the body
// ends. If it may contain NUL, it is called the data here. If not, it also ends at a NUL, because
// some clients send its C string with the NUL; the bytes after it are ignored.
//
// Two packets may be shorter: a worker's report without data may omit the NUL after the handle, as
// Perl's workers send it; and SUBMIT_REDUCE_JOB has four arguments before the data in gearmand, but
// three in the documentation of the protocol, so the fourth may be missing.

#include "core/base/slice.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GEAR_HEADER 12
#define GEAR_ARGS_MAX 7
// The limit for all arguments together, without the data and including the NULs after them.
#define GEAR_FIXED_MAX ((size_t)8192)

// The packets that a peer may send: the number of the type and its name; the number of arguments
// before the data; whether there is data; the function that carries it out (gear_conn.h).
#define GEAR_TYPES(X)                                                                              \
    X(1, CAN_DO, 1, false, gear_can_do)                                                            \
    X(2, CANT_DO, 1, false, gear_cant_do)                                                          \
    X(3, RESET_ABILITIES, 0, false, gear_reset_abilities)                                          \
    X(4, PRE_SLEEP, 0, false, gear_pre_sleep)                                                      \
    X(7, SUBMIT_JOB, 2, true, gear_submit)                                                         \
    X(9, GRAB_JOB, 0, false, gear_grab)                                                            \
    X(12, WORK_STATUS, 3, false, gear_work_status)                                                 \
    X(13, WORK_COMPLETE, 1, true, gear_work_complete)                                              \
    X(14, WORK_FAIL, 1, false, gear_work_fail)                                                     \
    X(15, GET_STATUS, 1, false, gear_get_status)                                                   \
    X(16, ECHO_REQ, 0, true, gear_echo)                                                            \
    X(18, SUBMIT_JOB_BG, 2, true, gear_submit)                                                     \
    X(21, SUBMIT_JOB_HIGH, 2, true, gear_submit)                                                   \
    X(22, SET_CLIENT_ID, 1, false, gear_set_client_id)                                             \
    X(23, CAN_DO_TIMEOUT, 2, false, gear_can_do)                                                   \
    X(24, ALL_YOURS, 0, false, gear_all_yours)                                                     \
    X(25, WORK_EXCEPTION, 1, true, gear_work_exception)                                            \
    X(26, OPTION_REQ, 1, false, gear_option)                                                       \
    X(28, WORK_DATA, 1, true, gear_work_data)                                                      \
    X(29, WORK_WARNING, 1, true, gear_work_data)                                                   \
    X(30, GRAB_JOB_UNIQ, 0, false, gear_grab)                                                      \
    X(32, SUBMIT_JOB_HIGH_BG, 2, true, gear_submit)                                                \
    X(33, SUBMIT_JOB_LOW, 2, true, gear_submit)                                                    \
    X(34, SUBMIT_JOB_LOW_BG, 2, true, gear_submit)                                                 \
    X(35, SUBMIT_JOB_SCHED, 7, true, gear_submit)                                                  \
    X(36, SUBMIT_JOB_EPOCH, 3, true, gear_submit)                                                  \
    X(37, SUBMIT_REDUCE_JOB, 4, true, gear_submit)                                                 \
    X(38, SUBMIT_REDUCE_JOB_BACKGROUND, 4, true, gear_submit)                                      \
    X(39, GRAB_JOB_ALL, 0, false, gear_grab)                                                       \
    X(41, GET_STATUS_UNIQUE, 1, false, gear_get_status_unique)

enum gear_type {
#define X(number, name, args, data, exec) GEAR_##name = (number),
    GEAR_TYPES(X)
#undef X
    // Packets that only a server sends.
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

// The shape of the packets of each type, in a byte; 0: a peer may not send them. It is in this
// header because every packet is checked several times.
#define GEAR_SHAPE_ARGS 7u // the number of arguments before the data
#define GEAR_SHAPE_KNOWN 8u
#define GEAR_SHAPE_DATA 16u
#define GEAR_SHAPE_NUL_OPTIONAL 32u // the NUL after the last argument, if the body ends there
#define GEAR_SHAPE_ARG_OPTIONAL 64u // the last argument before the data
extern const uint8_t gear_shapes[GEAR_TYPE_COUNT];

// Whether the first four bytes, or fewer if not all have arrived, may begin a packet.
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

// The length of the packet that begins with `start`, or of the text before the next packet; 0:
// `start` is too short. `start` is output; see `message_len` in struct frontend.
size_t gear_message_len(struct slice start);

// Whether a peer may send packets of that type.
static inline bool gear_type_known(uint32_t type)
{
    return type < GEAR_TYPE_COUNT && gear_shapes[type] != 0;
}

// For known types: the number of arguments before the data, and whether there is data.
static inline unsigned gear_type_args(uint32_t type)
{
    return gear_shapes[type] & GEAR_SHAPE_ARGS;
}

static inline bool gear_type_has_data(uint32_t type)
{
    return (gear_shapes[type] & GEAR_SHAPE_DATA) != 0;
}

// For known types: whether the packets submit a job. Their first argument is the function. Reports,
// which also have data, have only the handle before it, and an echo has no argument.
static inline bool gear_type_submits(uint32_t type)
{
    return gear_type_has_data(type) && gear_type_args(type) > 1;
}

// For any type: whether the packets report about a job and have data.
static inline bool gear_type_reports_data(uint32_t type)
{
    return gear_type_known(type) && gear_type_has_data(type) && gear_type_args(type) == 1;
}

struct blob;

struct gear_packet {
    enum gear_type type;
    struct slice args[GEAR_ARGS_MAX]; // the number of valid ones depends on the type
    struct slice data;
    struct blob *blob; // borrowed: contains the data if it was gathered; otherwise NULL
};

// Finds the arguments of a packet in `body`, the part of its body that has arrived; `whole` says
// that this is all of it, which is required if the type has no data. The arguments and the data
// borrow from `body`; the data is the part that has arrived. False: the arguments are not complete.
bool gear_packet_split(enum gear_type type, struct slice body, bool whole,
                       struct gear_packet *packet);

// The number at the beginning of the text, as strtol reads it, because workers write it in
// different ways: white space and a sign may come before it and any text after it. 0: there is
// none.
int64_t gear_number_read(struct slice text);

#endif
