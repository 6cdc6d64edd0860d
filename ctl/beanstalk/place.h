/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_PLACE_H
#define TANDEM_CTL_BEANSTALK_PLACE_H

// Where a beanstalk server is: beanstalk://HOST:PORT, the port 11300 unless it is named.

#include "ctl/api/outcome.h"
#include "ctl/print/text.h"

#include <stdbool.h>

// A zeroed one can be freed.
struct place {
    struct text host; // without the brackets of an IPv6 address
    struct text port;
    struct text name; // host:port, for people and for names of files
};

// Reads the address with its scheme, which says that nothing else is meant. False with the reason,
// which is one of usage.
bool place_read(struct place *place, const char *from, struct problem *problem);
// The same without the scheme.
bool place_read_host(struct place *place, const char *from, struct problem *problem);
void place_free(struct place *place);

#endif
