/* SPDX-License-Identifier: MIT */
#include "admin/event_sources.h"

// In the order of their events in a round.
const struct event_source *const event_sources[EVENT_SOURCES_MAX + 1] = {
    &event_process, &event_queues, &event_queue, &event_operation};

const char *const event_parameters[] = {"queues", "search", "name", "with", "sort", "queue", NULL};
