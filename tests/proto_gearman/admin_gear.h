/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_GEARMAN_ADMIN_GEAR_H
#define TANDEM_TESTS_PROTO_GEARMAN_ADMIN_GEAR_H

// For tests of administration by text: lines that are typed, and lists that are heard step by step.
// Handles have no blank here (T:1), so that each is one word of a line.

#include "tests/proto_gearman/wire_gear.h"

#include <stdbool.h>
#include <stddef.h>

// A test in a fresh world.
#define ADMIN(test) cmocka_unit_test_setup_teardown(test, admin_setup, gear_teardown)
int admin_setup(void **state);

// The same with thousands of things, where it would cost too much to look at all after each turn.
#define CROWD(test) cmocka_unit_test_setup_teardown(test, admin_setup_crowd, gear_teardown)
int admin_setup_crowd(void **state);

// A world that differs.
int admin_setup_with(void **state, struct rig_options options);

//
// Lines
//

#define DONE "OK\r\n"

// A line is typed, and this is the answer.
#define types(peer, line, answer)                                                                  \
    gear_says_at((peer), SLICE(line "\n"), SLICE(answer), __FILE__, __LINE__)

// A formatted string, good until the next call.
const char *admin_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Sends a line, its end included. No turn passes.
void admin_type(struct peer *peer, const char *line);

//
// A list that is heard step by step. There is one at a time.
//

// What a step may write, with the line at which it ends.
#define ADMIN_STEP_MAX ((size_t)34 * 1024)

// What was heard so far; a NUL follows.
extern char admin_heard[];

// The peer asks for a list; no turn passes. What was heard before is forgotten.
void admin_ask(struct peer *peer, const char *line);

// Takes what the peer has received meanwhile; returns how much that was.
size_t admin_collect(struct peer *peer);

// One turn, in which what is kept and what is heard grow by no more than a step. False: the list is
// complete. Nothing is settled, so that other peers go on as well.
bool admin_step(struct gear *t, struct peer *peer);

// Turns pass until it is complete.
void admin_finish(struct gear *t, struct peer *peer);

// How many lines were heard, and how many of them begin like that.
int admin_lines(void);
int admin_lines_like(const char *start);

#endif
