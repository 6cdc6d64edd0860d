/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_RULES_H
#define TANDEM_SERVER_RULES_H

// The rules of `server.access_file`, as they were read once. Those of an earlier reading stay as
// long as there are callers that were judged by them and not yet by the new ones. One thread.

#include "access/access.h"
#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stddef.h>

struct rules {
    struct access *access;
    size_t references; /* private */
};

// Reads the file; one reference. NULL with the reason in `why`.
struct rules *rules_read(const char *path, struct error_text *why) MUST_USE;

// NULL is allowed: no rules are in force.
struct rules *rules_ref(struct rules *rules);
void rules_unref(struct rules *rules);

#endif
