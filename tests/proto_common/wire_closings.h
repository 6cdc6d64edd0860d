/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_CLOSINGS_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_CLOSINGS_H

// Why front-ends close connections, as they tell the debug log.

#include <stddef.h>

#define CLOSINGS_ROOM 100

// From now on each reason is appended to `why`, an empty string at first that has CLOSINGS_ROOM
// bytes, with a full stop behind it. Any other event in the log fails the test.
void closings_note(char *why);

// No more: the log goes nowhere again.
void closings_end(void);

#endif
