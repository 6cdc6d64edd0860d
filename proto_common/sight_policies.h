/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_SIGHT_POLICIES_H
#define TANDEM_PROTO_COMMON_SIGHT_POLICIES_H

// Part of what the process shows of itself (sight.h): the sections of the configuration file that
// have a name, such as [queue mail.*], and the policies of queues, which are made of such sections
// and of what was said at run time.

#include "core/base/error_text.h"
#include "core/base/slice.h"
#include "core/status.h"

#include "proto_common/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sight_section {
    const char *kind;   // "queue"
    const char *name;   // what stands behind that
    const char *origin; // where it begins: "FILE:LINE", or "--set"
};

// A key of a section, or of a policy.
struct sight_key {
    const struct option *option;
    const char *value; // as it would stand in the file; valid until a key is asked for again
    bool preset;       // it says what it would say if it were not there
};

// A policy of queues. Those that were made at run time come before those of the file; a queue has
// the first whose glob fits its name.
struct sight_policy {
    const char *glob;
    const char *origin;  // of the file: where it begins; otherwise SIGHT_RUN_TIME
    bool is_run_time;    // it was made at run time, and is kept in the journal
    uint64_t position;   // of those that were made at run time, the lowest is first
    const char *why_not; // why it does not hold; NULL: it does
};
#define SIGHT_RUN_TIME "api"

// What a key is to say; the value as it would stand in the file.
struct sight_said {
    const char *key, *value;
};

// A policy that is to be made at run time.
struct sight_new_policy {
    struct slice glob;
    const struct sight_said *said;
    size_t count;
    bool has_position;
    uint64_t position;
};

// Called with the host of the sight.
struct sight_policies {
    // The section with a name of that index, in the order of the file, kind by kind; and its keys,
    // whose index begins anew with each. False behind the last one.
    bool (*section)(void *host, size_t index, struct sight_section *section);
    bool (*section_key)(void *host, size_t index, size_t key, struct sight_key *shown);
    // The same of policies, first comes first.
    bool (*at)(void *host, size_t index, struct sight_policy *policy);
    bool (*key)(void *host, size_t index, size_t key, struct sight_key *shown);
    // Makes the policy, or puts it in the place of the one of the same glob that was made at run
    // time. Without a position, a new one comes behind all others, and one that is there stays
    // where it is. It holds at once; the answer waits for broker_position(). STATUS_BAD_NAME: what
    // it says is wrong, the reason is in `why`; STATUS_TOO_LARGE: there are too many, likewise;
    // STATUS_NO_MEMORY, STATUS_NO_SPACE. Then nothing has changed.
    enum status (*set)(void *host, const struct sight_new_policy *policy, struct error_text *why);
    // Takes one away that was made at run time. STATUS_NOT_FOUND, STATUS_NO_MEMORY,
    // STATUS_NO_SPACE.
    enum status (*drop)(void *host, struct slice glob);
};

#endif
