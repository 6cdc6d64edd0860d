/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/rows.h"

#include "core/submit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_good(const struct row *row, char *why, size_t size)
{
    if (row->function.len == 0 || row->function.len > QUEUE_NAME_MAX ||
        memchr(row->function.ptr, '\0', row->function.len)) {
        (void)snprintf(why, size, "a function's name has 1 to %d bytes, and no NUL",
                       QUEUE_NAME_MAX);
    } else if (row->unique.len > JOB_KEY_MAX) {
        (void)snprintf(why, size, "the unique key is longer than %d bytes", JOB_KEY_MAX);
    } else if (row->priority < 0 || row->priority > 2) {
        (void)snprintf(why, size, "priority %" PRId64 " is none of 0, 1 and 2", row->priority);
    } else {
        return true;
    }
    return false;
}

bool rows_image(const struct row *row, uint64_t id, uint64_t now_ms, struct job_image *image,
                char *why, size_t size)
{
    static const uint32_t priorities[] = {PRI_HIGH, PRI_NORMAL, PRI_LOW};
    const nsec_t latest = NSEC_NEVER / NSEC_PER_SEC;

    if (!is_good(row, why, size)) {
        return false;
    }
    *image = (struct job_image){
        .now = {.id = id, .state = JOB_READY, .pri = priorities[row->priority]},
        .queue = row->function,
        .on_fail = ON_FAIL_DROP,
        .on_loss = ON_LOSS_BACK,
        .created_ms = now_ms,
        .body = row->data,
    };
    if (slice_equal(row->unique, SLICE("-"))) {
        image->key_kind = row->data.len > 0 ? KEY_CONTENT : KEY_NONE;
    } else if (row->unique.len > 0) {
        image->key_kind = KEY_NAME;
        image->key = row->unique;
    }
    if (row->when_to_run > 0) {
        image->now.state = JOB_DELAYED;
        image->now.on_wall = true;
        image->now.due_at =
            nsec_from_seconds((uint64_t)(row->when_to_run < latest ? row->when_to_run : latest));
    }
    return true;
}
