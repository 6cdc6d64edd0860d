/* SPDX-License-Identifier: MIT */
#include "core/taken.h"

#include "core/base/memory.h"
#include "core/job.h"
#include "core/lookup.h"

enum { ROOM_FIRST = 4 };

static size_t block_size(uint32_t room)
{
    return room * sizeof(uint64_t);
}

// Room for one more. False: without memory, or where there are as many as there may be.
static bool make_room(struct session_extra *extra)
{
    uint32_t room = extra->taken_room ? 2 * extra->taken_room : ROOM_FIRST;
    uint64_t *ids;

    if (extra->taken_count < extra->taken_room) {
        return true;
    }
    if (room > TAKEN_MAX) {
        return false;
    }
    ids = memory_resize(extra->taken, block_size(extra->taken_room), block_size(room));
    if (!ids) {
        return false;
    }
    extra->taken = ids;
    extra->taken_room = room;
    return true;
}

void taken_note(struct broker *broker, const struct job *job)
{
    struct session *holder = job->state == JOB_RESERVED ? holder_of(broker, job) : NULL;
    struct session_extra *extra;

    if (!holder || holder->closed || !holder->ops->passes_over_taken) {
        return;
    }
    extra = session_extra(holder);
    if (!extra) {
        return;
    }
    if (make_room(extra)) {
        extra->taken[extra->taken_count++] = job->id;
    } else if (extra->taken_count > 0) {
        extra->taken_oldest %= extra->taken_count;
        extra->taken[extra->taken_oldest++] = job->id;
    }
}

bool session_was_taken(struct session *session, uint64_t id, bool is_last)
{
    struct session_extra *extra = session->extra;

    for (uint32_t i = 0; extra && i < extra->taken_count; i++) {
        if (extra->taken[i] == id) {
            if (is_last) {
                extra->taken[i] = extra->taken[--extra->taken_count];
            }
            return true;
        }
    }
    return false;
}
