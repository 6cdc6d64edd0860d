/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_ADDRESS_H
#define TANDEM_CTL_API_ADDRESS_H

// Where a broker's API is: http://host:port, https://host:port, host:port, or unix:/path.

#include "ctl/api/outcome.h"
#include "ctl/print/text.h"

#include <stdbool.h>

#define ADDRESS_DEFAULT "http://127.0.0.1:9180"

// A zeroed one can be freed.
struct address {
    struct text base;   // scheme, host and port, without a slash at the end
    struct text socket; // the path of a Unix socket; empty: none
    bool tls;
};

// False with the reason, which is one of usage.
bool address_read(struct address *address, const char *from, struct problem *problem);
void address_free(struct address *address);

#endif
