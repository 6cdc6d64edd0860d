/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_CLOSINGS_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_CLOSINGS_H

// The reasons why front-ends close connections, from the debug log.

#include <stddef.h>

#define CLOSINGS_ROOM 100

// From now on each reason is appended to `why`, with a full stop after it. `why` is empty at first
// and has CLOSINGS_ROOM bytes. Any other log event fails the test.
void closings_note(char *why);

// Ends this: log lines are dropped again.
void closings_end(void);

#endif
