/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_QUEUE_PUSH_H
#define TANDEM_SERVER_CONFIG_QUEUE_PUSH_H

// The part of a section [queue GLOB] that says where the broker itself sends the jobs
// (push/PUSH.md).

#include "push/push.h"
#include "server/config/sections.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct queue_push {
    char *url; // empty: nowhere
    uint32_t connections;
    nsec_t timeout_for;
    uint64_t max_answer; // bytes
    char *secret;
    char *secret_file; // empty: none
    char *ca_file;     // empty: none
    bool may_be_private;
};

#define QUEUE_PUSH_LONGEST (3600 * NSEC_PER_SEC)

// Writes of a URL what may be shown: the path and the query of a webhook are often secrets.
void queue_push_show_url(const char *url, FILE *file);

// Why its keys contradict each other; NULL where they do not.
const char *queue_push_contradiction(const struct queue_push *push);

// The endpoints of the sections, in their order, for free(); their texts are borrowed. NULL with
// the reason in `why`, without memory.
struct push_settings *queue_push_list(const struct config_sections *sections, size_t *count,
                                      struct error_text *why) MUST_USE;

// How many descriptors their transfers may take: a connection, and what looks its name up, each;
// and what wakes libcurl, of each endpoint.
uint64_t queue_push_descriptors(const struct config_sections *sections);

// Whether each section's endpoint can be used: reads the files that it names. False with the reason
// in `why`.
bool queue_push_check(const struct config_sections *sections, struct error_text *why) MUST_USE;

#endif
