/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_QUEUE_SECTION_H
#define TANDEM_SERVER_CONFIG_QUEUE_SECTION_H

// [queue GLOB]: the policy of all queues whose names fit the glob and that of no section before.

#include "core/policy.h"
#include "server/config/queue_push.h"
#include "server/config/sections.h"

// The values of `unique`, in the order of its choices.
enum queue_unique { QUEUE_UNIQUE_NONE, QUEUE_UNIQUE_BODY };

struct queue_section {
    // What the core is told; `dead_queue` and `unique_body` follow from the fields below when the
    // section is finished, and borrow from them.
    struct policy_spec spec;
    char *dead_queue;
    int unique; // enum queue_unique
    struct queue_push push;
};

// How many there may be in the file. The broker takes more: there are those of the run time.
#define QUEUE_SECTIONS_MAX 1000
// Durations of policies are at most a year, and those between two attempts 30 days.
#define QUEUE_SECTION_LONGEST (365 * INT64_C(86400) * NSEC_PER_SEC)
#define QUEUE_SECTION_BACKOFF_LONGEST (30 * INT64_C(86400) * NSEC_PER_SEC)

extern const struct config_kind queue_section_kind;

// The section, which is finished, as a rule for the core. It is borrowed.
struct policy_rule queue_section_rule(const struct config_section *section);

// The first of the sections whose glob fits the queue's name; NULL for none.
const struct config_section *queue_section_for(const struct config_sections *sections,
                                               struct slice name);

// Writes which section a queue of that name has, and why.
void queue_section_explain(const struct config_sections *sections, const char *name, FILE *file);

#endif
