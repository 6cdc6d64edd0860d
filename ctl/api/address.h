/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_ADDRESS_H
#define TANDEM_CTL_API_ADDRESS_H

// The address of a broker's API: http://host:port, https://host:port, host:port, or unix:/path.

#include "ctl/api/outcome.h"
#include "ctl/print/text.h"

#include <stdbool.h>

#define ADDRESS_DEFAULT "http://127.0.0.1:9180"

// A zeroed address may be freed.
struct address {
    struct text base;   // scheme, host and port, without a trailing slash
    struct text socket; // the path of a Unix socket; empty: none
    bool tls;
};

// Parses an address. False with a problem of OUTCOME_USAGE.
bool address_read(struct address *address, const char *from, struct problem *problem);
void address_free(struct address *address);

#endif
