/* SPDX-License-Identifier: MIT */
#include "server/config/connection_memory.h"

#include <inttypes.h>

// What the largest job may have beside it where nothing else is said.
#define PRESET_BESIDE ((uint64_t)64 << 20)

// The most bytes that a job or a result may have, by any protocol.
static uint64_t largest_job(const struct settings *settings)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < settings->config.count; i++) {
        const struct config_table *table = &settings->config.tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            const char *values = table->values;
            const uint64_t *size = (const void *)(values + option->offset);

            if (option->is_job_size && *size > largest) {
                largest = *size;
            }
        }
    }
    return largest;
}

bool connection_memory_check(const struct settings *settings, struct error_text *why)
{
    uint64_t most = settings->server.max_connection_memory;
    uint64_t least = largest_job(settings) + CONNECTION_MEMORY_BESIDE;

    if (most == 0 || most >= least) {
        return true;
    }
    return error_set(why,
                     "[server] max_connection_memory: must be 0 or at least %" PRIu64
                     ", 2M more than the largest job that a protocol allows",
                     least);
}

uint64_t connection_memory_before(const struct settings *settings)
{
    uint64_t most = settings->server.max_connection_memory;

    return most == 0 ? PRESET_BESIDE : most - largest_job(settings);
}
