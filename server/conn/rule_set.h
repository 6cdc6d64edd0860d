/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_RULE_SET_H
#define TANDEM_SERVER_CONN_RULE_SET_H

// The rules of `server.access_file`, as they were read once. An earlier rule set stays while there
// are callers that were authorized by it and not yet by the new one. For one thread.

#include "access/access.h"
#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stddef.h>

struct rule_set {
    struct access *access;
    size_t references; /* private */
};

// Reads the file; returns one reference. NULL with the reason in `why`.
struct rule_set *rule_set_read(const char *path, struct error_text *why) MUST_USE;

// NULL is allowed: no rules are in force.
struct rule_set *rule_set_ref(struct rule_set *rules);
void rule_set_unref(struct rule_set *rules);

#endif
