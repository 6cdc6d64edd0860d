/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_BUDGET_HOST_H
#define TANDEM_TESTS_BUDGET_HOST_H

// A host for one front-end, as cheap as a host can be: no sockets, no checks, a clock that goes on
// by the same step each turn. What its turns cost is what the front-end and the core cost.
//
// Callgrind is told to count while host_turn() runs, by its name. What is done around it, such as
// putting a command together, or by host_turn_aside(), costs nothing. With a journal, its share of
// the turn counts and that of its thread, which is done between the turns, does not.
//
// Nothing here fails: it aborts, since a case that went wrong has no figure.

#include "core/base/slice.h"
#include "proto_common/frontend.h"

#include <stdbool.h>

struct host;
struct caller;

struct host *host_new(const struct frontend *frontend, const void *settings, bool durable);
void host_free(struct host *host);

// A connection. It is freed with the host.
struct caller *host_connect(struct host *host);

// Hands over whole commands; the bytes must stay until the turn is over.
void caller_say(struct caller *caller, struct slice bytes);

// A turn of the loop: input, what is due, notices, the journal, output.
void host_turn(struct host *host);
void host_turn_aside(struct host *host);

// What was received in the turns since this was called last.
struct slice caller_hear(struct caller *caller);

// Says, and lets turns pass until there is an answer, which must begin with `expected`.
struct slice caller_ask(struct caller *caller, struct slice bytes, struct slice expected);
struct slice caller_ask_aside(struct caller *caller, struct slice bytes, struct slice expected);

#endif
