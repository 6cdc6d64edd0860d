/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_QUEUE_SECTION_H
#define TANDEM_SERVER_CONFIG_QUEUE_SECTION_H

#include "core/policy.h"
#include "push/push.h"
#include "server/config/sections.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// [queue GLOB]: the policy of the queues whose names match the glob and the globs of no earlier
// section; and its keys `push_...`, the endpoint to which the broker posts the jobs (push/PUSH.md).
//
// If a function with `why` fails, the reason is in `why`.

struct queue_push {
    char *url; // empty: no endpoint
    uint32_t connections;
    nsec_t timeout_for;
    uint64_t max_answer; // bytes
    char *secret;
    char *secret_file; // empty: none
    char *ca_file;     // empty: none
    bool may_be_private;
};

// The values of `unique`, in the order of its choices.
enum queue_unique { QUEUE_UNIQUE_NONE, QUEUE_UNIQUE_BODY };

struct queue_section {
    // The policy for the core. Its `dead_queue` and `unique_body` are set from the fields below
    // when the section is finished, and borrow from them.
    struct policy_spec spec;
    char *dead_queue;
    int unique; // enum queue_unique
    struct queue_push push;
};

// Maximum number of sections in the file. The broker accepts more rules, for run-time policies.
#define QUEUE_SECTIONS_MAX 1000
// Limits of durations: a year; 30 days for a backoff; an hour for a request to an endpoint.
#define QUEUE_SECTION_LONGEST (365 * INT64_C(86400) * NSEC_PER_SEC)
#define QUEUE_SECTION_BACKOFF_LONGEST (30 * INT64_C(86400) * NSEC_PER_SEC)
#define QUEUE_PUSH_LONGEST (3600 * NSEC_PER_SEC)

extern const struct config_kind queue_section_kind;

// A finished section as a rule for the core; it borrows from the section.
struct policy_rule queue_section_rule(const struct config_section *section);

// Writes the section that applies to the queue, and the other ones that match it.
void queue_section_explain(const struct config_sections *sections, const char *name, FILE *file);

// Writes the URL without its path and query, which are secrets of many web hooks.
void queue_push_show_url(const char *url, FILE *file);

// The endpoints of the sections, in their order, for free(); their texts are borrowed. NULL without
// memory.
struct push_settings *queue_push_list(const struct config_sections *sections, size_t *count,
                                      struct error_text *why) MUST_USE;

// The maximum number of file descriptors of the endpoints: two for each transfer, its connection
// and its name lookup; and two for each endpoint, for libcurl's own wake-ups.
uint64_t queue_push_descriptors(const struct config_sections *sections);

// Whether each endpoint can be used: reads the files in its settings.
bool queue_push_check(const struct config_sections *sections, struct error_text *why) MUST_USE;

#endif
