/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_PLACE_H
#define TANDEM_CTL_BEANSTALK_PLACE_H

// The address of a beanstalk server: beanstalk://HOST:PORT; the default port is 11300.

#include "ctl/api/outcome.h"
#include "ctl/print/text.h"

#include <stdbool.h>

// A zeroed place may be freed.
struct place {
    struct text host; // without the brackets of an IPv6 address
    struct text port;
    struct text name; // host:port, for messages and file names
};

// Parses an address with its scheme. False with a problem of OUTCOME_USAGE.
bool place_read(struct place *place, const char *from, struct problem *problem);
void place_free(struct place *place);

#endif
