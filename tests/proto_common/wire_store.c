/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_store.h"

static bool store_room(void *context, const struct record *record)
{
    struct wire_store *store = context;

    return !store->recorder->has_space || store->recorder->has_space(store->recorder_store, record);
}

static uint64_t store_append(void *context, const struct record *record)
{
    struct wire_store *store = context;

    if (store->recorder->append) {
        (void)store->recorder->append(store->recorder_store, record);
    }
    store->position++;
    if (!store->slow) {
        *store->reached = store->position;
    }
    if (record->kind == RECORD_SUBMIT) {
        store->submitted[job_id(record->job) % WIRE_STORE_JOBS] = store->position;
    }
    return store->position;
}

static uint64_t store_position(const void *context, const struct job *job)
{
    const struct wire_store *store = context;
    uint64_t position =
        job_is_durable(job) ? store->submitted[job_id(job) % WIRE_STORE_JOBS] : store->ids_at;

    return position > *store->reached ? position : 0;
}

static void store_info(const void *context, struct store_info *info)
{
    const struct wire_store *store = context;

    *info = store->info;
}

static const struct recorder recorder = {.has_space = store_room,
                                         .append = store_append,
                                         .position = store_position,
                                         .info = store_info};

struct broker_options wire_store_before(struct wire_store *store, struct broker_options options,
                                        uint64_t *reached)
{
    store->reached = reached;
    if (options.recorder) {
        store->recorder = options.recorder;
        store->recorder_store = options.store;
        options.recorder = &recorder;
        options.store = store;
    }
    return options;
}
