/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_GEARMAN_ADMIN_GEAR_H
#define TANDEM_TESTS_PROTO_GEARMAN_ADMIN_GEAR_H

// For tests of administration by text: sending lines, and receiving lists step by step. Handles
// have no blank here (T:1), so that each is one word of a line.

#include "tests/proto_gearman/wire_gear.h"

#include <stdbool.h>
#include <stddef.h>

// A test with a new broker.
#define ADMIN(test) cmocka_unit_test_setup_teardown(test, admin_setup, gear_teardown)
int admin_setup(void **state);

// The same with thousands of objects: the invariants are not checked after each turn, because that
// would be slow.
#define CROWD(test) cmocka_unit_test_setup_teardown(test, admin_setup_crowd, gear_teardown)
int admin_setup_crowd(void **state);

// A test with other options.
int admin_setup_with(void **state, struct rig_options options);

//
// Lines
//

#define DONE "OK\r\n"

// Sends a line, and checks the reply.
#define types(peer, line, answer)                                                                  \
    gear_says_at((peer), SLICE(line "\n"), SLICE(answer), __FILE__, __LINE__)

// A formatted string, valid until the next call.
const char *admin_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Sends a line, including its end. No turn passes.
void admin_type(struct peer *peer, const char *line);

//
// A list that is received step by step. There is one at a time.
//

// The most bytes of a step, including the line with which it ends.
#define ADMIN_STEP_MAX ((size_t)34 * 1024)

// The output received so far; a NUL follows.
extern char admin_heard[];

// The peer asks for a list; no turn passes. Drops the output received before.
void admin_ask(struct peer *peer, const char *line);

// Takes the output that the peer has received meanwhile; returns its length.
size_t admin_collect(struct peer *peer);

// Runs one turn, in which the collected and the received output grow by at most one step. False:
// the list is complete. Nothing is settled, so that other peers continue as well.
bool admin_step(struct gear *t, struct peer *peer);

// Runs turns until the list is complete.
void admin_finish(struct gear *t, struct peer *peer);

// The number of lines received, and of lines that begin with `start`.
int admin_lines(void);
int admin_lines_like(const char *start);

#endif
