/* SPDX-License-Identifier: MIT */
#include "core/session_private.h"

#include "core/base/memory.h"
#include "core/job_private.h"

enum { ROOM_FIRST = 4 };

static size_t block_size(uint32_t room)
{
    return room * sizeof(uint64_t);
}

// Room for one more. False: without memory, or where there are as many as there may be.
static bool make_room(struct session_extra *extra)
{
    uint32_t room = extra->revoked_room ? 2 * extra->revoked_room : ROOM_FIRST;
    uint64_t *ids;

    if (extra->revoked_count < extra->revoked_room) {
        return true;
    }
    if (room > REVOKED_MAX) {
        return false;
    }
    ids = memory_resize(extra->revoked, block_size(extra->revoked_room), block_size(room));
    if (!ids) {
        return false;
    }
    extra->revoked = ids;
    extra->revoked_room = room;
    return true;
}

void revoked_note(struct broker *broker, const struct job *job)
{
    struct session *holder = job->state == JOB_RESERVED ? session_holding(broker, job) : NULL;
    struct session_extra *extra;

    if (!holder || holder->closed || !holder->ops->ignores_revoked) {
        return;
    }
    extra = session_extra(holder);
    if (!extra) {
        return;
    }
    if (make_room(extra)) {
        extra->revoked[extra->revoked_count++] = job->id;
    } else if (extra->revoked_count > 0) {
        extra->revoked_oldest %= extra->revoked_count;
        extra->revoked[extra->revoked_oldest++] = job->id;
    }
}

bool session_job_revoked(struct session *session, uint64_t id, bool is_last)
{
    struct session_extra *extra = session->extra;

    for (uint32_t i = 0; extra && i < extra->revoked_count; i++) {
        if (extra->revoked[i] == id) {
            if (is_last) {
                extra->revoked[i] = extra->revoked[--extra->revoked_count];
            }
            return true;
        }
    }
    return false;
}
