/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_GEARMAN_WIRE_GEAR_H
#define TANDEM_TESTS_PROTO_GEARMAN_WIRE_GEAR_H

// Gearman sessions in memory: the packets that a client or worker sends, and exactly the bytes that
// it must receive:
//
//   gear_says(peer, REQ(SUBMIT_JOB, "f", "unique", "body"), RES(JOB_CREATED, H(1)));
//
// The broker has a beanstalk front-end, too, for tests with clients of both protocols.

#include "core/broker.h"

#include "proto_beanstalk/beanstalk.h"
#include "proto_gearman/gearman.h"

#include "tests/proto_common/wire_host.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

// The state of each test.
struct gear {
    struct rig *rig;
    struct gear_options settings; // a test may change live settings at any time
    struct bean_options bean_settings;
    size_t store_room;      // the number of records that the store has room for; enough at first
    struct peer *a, *b, *c; // Gearman peers, connected from the start
    struct peer *m, *n;     // beanstalk peers, if the test is a MEETING
};

// A test with a new broker.
#define GEAR(test) cmocka_unit_test_setup_teardown(test, gear_setup, gear_teardown)
int gear_setup(void **state);
int gear_teardown(void **state);

// A test with beanstalk peers.
#define MEETING(test) cmocka_unit_test_setup_teardown(test, gear_setup_meeting, gear_teardown)
int gear_setup_meeting(void **state);

// A test with other options: its `setup` calls this with them. Its settings begin with
// GEAR_DEFAULTS.
int gear_setup_with(void **state, struct rig_options options, struct gear_options settings);
#define GEAR_DEFAULTS                                                                              \
    ((struct gear_options){.max_job_size = 64 << 20,                                               \
                           .max_unread = 1 << 30,                                                  \
                           .job_retries = -1,                                                      \
                           .handle_prefix = gear_no_prefix})
extern char gear_no_prefix[];

//
// Packets
//

#define GEAR_TYPES(X)                                                                              \
    X(CAN_DO, 1)                                                                                   \
    X(CANT_DO, 2)                                                                                  \
    X(RESET_ABILITIES, 3)                                                                          \
    X(PRE_SLEEP, 4)                                                                                \
    X(UNUSED, 5)                                                                                   \
    X(NOOP, 6)                                                                                     \
    X(SUBMIT_JOB, 7)                                                                               \
    X(JOB_CREATED, 8)                                                                              \
    X(GRAB_JOB, 9)                                                                                 \
    X(NO_JOB, 10)                                                                                  \
    X(JOB_ASSIGN, 11)                                                                              \
    X(WORK_STATUS, 12)                                                                             \
    X(WORK_COMPLETE, 13)                                                                           \
    X(WORK_FAIL, 14)                                                                               \
    X(GET_STATUS, 15)                                                                              \
    X(ECHO_REQ, 16)                                                                                \
    X(ECHO_RES, 17)                                                                                \
    X(SUBMIT_JOB_BG, 18)                                                                           \
    X(ERROR, 19)                                                                                   \
    X(STATUS_RES, 20)                                                                              \
    X(SUBMIT_JOB_HIGH, 21)                                                                         \
    X(SET_CLIENT_ID, 22)                                                                           \
    X(CAN_DO_TIMEOUT, 23)                                                                          \
    X(ALL_YOURS, 24)                                                                               \
    X(WORK_EXCEPTION, 25)                                                                          \
    X(OPTION_REQ, 26)                                                                              \
    X(OPTION_RES, 27)                                                                              \
    X(WORK_DATA, 28)                                                                               \
    X(WORK_WARNING, 29)                                                                            \
    X(GRAB_JOB_UNIQ, 30)                                                                           \
    X(JOB_ASSIGN_UNIQ, 31)                                                                         \
    X(SUBMIT_JOB_HIGH_BG, 32)                                                                      \
    X(SUBMIT_JOB_LOW, 33)                                                                          \
    X(SUBMIT_JOB_LOW_BG, 34)                                                                       \
    X(SUBMIT_JOB_SCHED, 35)                                                                        \
    X(SUBMIT_JOB_EPOCH, 36)                                                                        \
    X(SUBMIT_REDUCE_JOB, 37)                                                                       \
    X(SUBMIT_REDUCE_JOB_BACKGROUND, 38)                                                            \
    X(GRAB_JOB_ALL, 39)                                                                            \
    X(JOB_ASSIGN_ALL, 40)                                                                          \
    X(GET_STATUS_UNIQUE, 41)                                                                       \
    X(STATUS_RES_UNIQUE, 42)

// The number of a type, as a string of one byte: the first string of a packet.
#define X(name, number) extern const char name[2];
GEAR_TYPES(X)
#undef X

#define GEAR_WORDS_MAX 12

// A packet of a peer, and one of the server: its type, and its arguments, which are strings.
#define REQ(...) gear_packet("REQ", (const char *const[GEAR_WORDS_MAX]){__VA_ARGS__})
#define RES(...) gear_packet("RES", (const char *const[GEAR_WORDS_MAX]){__VA_ARGS__})
struct slice gear_packet(const char *magic, const char *const words[GEAR_WORDS_MAX]);

// A header, and any body after it.
struct slice gear_raw(const char *magic, uint32_t type, uint32_t announced, struct slice body);

// Several packets.
#define MANY(...)                                                                                  \
    gear_many((const struct slice[]){__VA_ARGS__},                                                 \
              sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))
struct slice gear_many(const struct slice *packets, size_t count);

#define NOTHING SLICE("")

// The handle of a job.
#define GEAR_PREFIX "H:test.host:"
#define H(id) (GEAR_PREFIX #id)
// The same for a number: the string is valid for the next 15 calls.
const char *gear_handle(uint64_t id);

// A string of `len` times that byte, valid until the test ends.
const char *gear_run(char byte, size_t len);

//
// Sessions
//

// The peer sends `said` and must receive exactly `heard`.
#define gear_says(peer, said, heard) gear_says_at((peer), (said), (heard), __FILE__, __LINE__)
void gear_says_at(struct peer *peer, struct slice said, struct slice heard, const char *file,
                  int line);

// The peer must have received exactly this.
#define gear_hears(peer, heard) gear_hears_at((peer), (heard), __FILE__, __LINE__)
void gear_hears_at(struct peer *peer, struct slice heard, const char *file, int line);

// The peer sends `said` and must receive only an ERROR with that code and any text.
#define gear_fails(peer, said, code) gear_fails_at((peer), (said), (code), __FILE__, __LINE__)
void gear_fails_at(struct peer *peer, struct slice said, const char *code, const char *file,
                   int line);

// The peer submits a job, and receives only JOB_CREATED. Returns the id in the handle.
#define gear_submits(peer, said) gear_submits_at((peer), (said), __FILE__, __LINE__)
uint64_t gear_submits_at(struct peer *peer, struct slice said, const char *file, int line);

// The peer sends GRAB_JOB and gets a job of that function with that body. Returns its id.
#define gear_grabs(peer, function, body)                                                           \
    gear_grabs_at((peer), (function), (body), __FILE__, __LINE__)
uint64_t gear_grabs_at(struct peer *peer, const char *function, const char *body, const char *file,
                       int line);

// The number of jobs of the queue in that state; 0 if there is no such queue.
uint64_t gear_jobs(const struct gear *t, const char *queue, enum job_state state);

// Asserts that number.
#define jobs_are(t, queue, state, count) assert_int_equal(gear_jobs((t), (queue), (state)), (count))

// The live job of that id; fails if there is none.
struct job_info gear_job(const struct gear *t, uint64_t id);

#define job_is_gone(t, id) assert_null(broker_find(rig_broker((t)->rig), (id)))

#endif
