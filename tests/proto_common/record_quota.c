/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/record_quota.h"

#include "core/base/macros.h"

static bool quota_room(void *store, const struct record *record)
{
    size_t *left = store;

    ENSURE(record->kind != RECORD_END && record->kind != RECORD_BURY);
    if (*left == 0) {
        return false;
    }
    *left -= 1;
    return true;
}

static uint64_t quota_append(void *store, const struct record *record)
{
    (void)store;
    (void)record;
    return 0;
}

const struct recorder record_quota = {.has_space = quota_room, .append = quota_append};
