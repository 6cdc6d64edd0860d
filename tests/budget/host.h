/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_BUDGET_HOST_H
#define TANDEM_TESTS_BUDGET_HOST_H

// A minimal host for one front-end: it has no sockets and no checks, and its clock advances by the
// same step each turn. A turn therefore costs what the front-end and the core cost.
//
// Callgrind counts only while host_turn() runs, which it knows by name. Work outside of it, such as
// formatting a command or host_turn_aside(), is not counted. With a journal, the journal's part of
// the turn counts; the work of its thread, which runs between turns, does not.
//
// Errors abort the program, since a case that failed has no figure.

#include "core/base/slice.h"
#include "proto_common/frontend.h"

#include <stdbool.h>

struct host;
struct caller;

struct host *host_new(const struct frontend *frontend, const void *settings, bool durable);
void host_free(struct host *host);

// Opens a connection, which host_free() frees.
struct caller *host_connect(struct host *host);

// Gives the connection whole commands to read in the next turn. The caller keeps the bytes until
// the turn has ended.
void caller_say(struct caller *caller, struct slice bytes);

// Runs a turn of the loop: timers, input, notices, the journal, output.
void host_turn(struct host *host);
void host_turn_aside(struct host *host);

// Returns the bytes sent to this connection since the last call.
struct slice caller_hear(struct caller *caller);

// Sends the bytes and runs turns until a reply comes, which must begin with `expected`.
struct slice caller_ask(struct caller *caller, struct slice bytes, struct slice expected);
struct slice caller_ask_aside(struct caller *caller, struct slice bytes, struct slice expected);

#endif
