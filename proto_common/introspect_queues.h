/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_INTROSPECT_QUEUES_H
#define TANDEM_PROTO_COMMON_INTROSPECT_QUEUES_H

// The parts of introspection (introspect.h) that are about queues: the endpoints that jobs are
// pushed to, the policies of queues, and the sections of the configuration file that they come
// from.

#include "core/base/error_text.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"

#include "proto_common/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct introspect_distribution;
struct queue;

//
// Endpoints that jobs are pushed to
//

// Nothing in it is secret: of the URL it has only scheme, host and port.
struct introspect_push {
    const char *section;  // the [queue ...] section that has it
    const char *endpoint; // scheme, host and port
    const char *state;    // "open"; "paused": no requests for now; "trying": it seemed to be down,
                          // and gets one job at a time; "leaving": the settings no longer have it
    nsec_t paused_for;    // the rest of a pause
    uint64_t connections; // the most jobs that it may have at a time
    uint64_t in_flight;   // jobs that it has
    const char *const *outcome_words;
    const uint64_t *outcomes; // requests so far, by their outcome
    size_t outcome_count;
    const char *last_failure; // empty: none
};

// Called with the host of the table.
struct introspect_pushes {
    // The endpoint of that index; false behind the last one.
    bool (*at)(void *host, size_t index, struct introspect_push *push);
    // The endpoint of the queue's jobs; false if the queue has none.
    bool (*of)(void *host, const struct queue *queue, struct introspect_push *push);
    // The durations of requests to all endpoints, until the response.
    void (*seconds)(void *host, struct introspect_distribution *seconds);
    // Ends the pause of the endpoint of that section. False: unknown section.
    bool (*resume)(void *host, struct slice section);
};

//
// Policies of queues, and sections of the configuration file that have a name, such as
// [queue mail.*]
//

struct introspect_section {
    const char *kind;   // "queue"
    const char *name;   // the rest of the header
    const char *origin; // its first line: "FILE:LINE", or "--set"
};

// A key of a section, or of a policy.
struct introspect_key {
    const struct option *option;
    const char *value; // as in the file; valid until the next call for a key
    bool is_default;   // its value is the default
};

// A policy of queues. Policies made at run time come before those of the file; a queue has the
// first one whose glob matches its name.
struct introspect_policy {
    const char *glob;
    const char *origin;  // of the file: "FILE:LINE"; otherwise INTROSPECT_RUN_TIME
    bool is_run_time;    // it was made at run time, and is stored in the journal
    uint64_t position;   // order among policies made at run time, lowest first
    const char *why_not; // why it is not in effect; NULL: it is
};
#define INTROSPECT_RUN_TIME "api"

// The value of a key, as in the file.
struct introspect_assignment {
    const char *key, *value;
};

// A policy to make at run time.
struct introspect_new_policy {
    struct slice glob;
    const struct introspect_assignment *assignments;
    size_t count;
    bool has_position;
    uint64_t position;
};

// Called with the host of the table.
struct introspect_policies {
    // The named section of that index, in the order of the file, kind by kind, and its keys, whose
    // index starts at 0 in each section. False behind the last one.
    bool (*section)(void *host, size_t index, struct introspect_section *section);
    bool (*section_key)(void *host, size_t index, size_t key, struct introspect_key *value);
    // The same for policies, in order of precedence.
    bool (*at)(void *host, size_t index, struct introspect_policy *policy);
    bool (*key)(void *host, size_t index, size_t key, struct introspect_key *value);
    // Makes the policy, or replaces the run-time policy of the same glob. Without a position, a
    // new one comes last, and an existing one stays where it is. It takes effect at once; the
    // answer waits for broker_position(). STATUS_BAD_NAME: the policy is wrong, as `why` says;
    // STATUS_TOO_LARGE: too many policies, or too large, as `why` says; STATUS_NO_MEMORY,
    // STATUS_NO_SPACE. On failure nothing changes.
    enum status (*set)(void *host, const struct introspect_new_policy *policy,
                       struct error_text *why);
    // Deletes a policy that was made at run time. STATUS_NOT_FOUND, STATUS_NO_MEMORY,
    // STATUS_NO_SPACE.
    enum status (*drop)(void *host, struct slice glob);
};

#endif
