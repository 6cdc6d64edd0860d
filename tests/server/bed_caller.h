/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_BED_CALLER_H
#define TANDEM_TESTS_SERVER_BED_CALLER_H

// Whom a connection of the bed's front-end speaks for: the lines about that (server_bed.h).

#include "core/grants.h"
#include "tests/server/server_bed.h"

struct bed_caller {
    struct wire *wire;
    struct bed_front *front;
    struct grants *grants; // as a session would have them
};

// From now on it may do this; NULL: everything.
void bed_caller_take(struct bed_caller *caller, struct grants *grants);

// Whether the line is one of those; it is answered then.
bool bed_caller_ask(struct bed_caller *caller, const char *line);

#endif
