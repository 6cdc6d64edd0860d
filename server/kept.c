/* SPDX-License-Identifier: MIT */
#include "server/kept.h"

#include <stdlib.h>

enum { KEPT_FIRST = 256 };

// Sees to room for `len` bytes behind the end, doubling it so that appending stays cheap.
static bool kept_make_room(struct kept *kept, size_t len)
{
    size_t used = kept_len(kept);
    size_t room = kept->room ? kept->room : KEPT_FIRST;
    char *bytes;

    if (len <= kept->room - kept->end) {
        return true;
    }
    // What has been dropped in front is worth moving for only once it is the larger part.
    if (kept->start > used && len <= kept->room - used) {
        memmove(kept->bytes, kept->bytes + kept->start, used);
        kept->start = 0;
        kept->end = used;
        return true;
    }
    while (room - kept->end < len) {
        room *= 2;
    }
    bytes = realloc(kept->bytes, room);
    if (!bytes) {
        return false;
    }
    kept->bytes = bytes;
    kept->room = room;
    return true;
}

bool kept_append(struct kept *kept, struct slice input)
{
    if (input.len == 0) {
        return true;
    }
    if (!kept_make_room(kept, input.len)) {
        return false;
    }
    memcpy(kept->bytes + kept->end, input.ptr, input.len);
    kept->end += input.len;
    return true;
}

void kept_drop(struct kept *kept, size_t len)
{
    ENSURE(len <= kept_len(kept));
    kept->start += len;
    if (kept->start == kept->end) {
        free(kept->bytes);
        *kept = (struct kept){0};
    }
}
