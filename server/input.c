/* SPDX-License-Identifier: MIT */
#include "server/input.h"

#include <stdlib.h>

enum { KEPT_FIRST = 256 };

// What has been dropped in front is worth moving for only once it is the larger part.
static bool kept_move_up(struct kept_bytes *kept, size_t len)
{
    size_t used = kept->end - kept->start;

    if (kept->start <= used || len > kept->room - used) {
        return false;
    }
    memmove(kept->bytes, kept->bytes + kept->start, used);
    kept->start = 0;
    kept->end = used;
    return true;
}

// Sees to room for `len` bytes behind the end, doubling it so that appending stays cheap.
static bool kept_make_room(struct kept *kept, size_t len)
{
    struct kept_bytes *bytes = kept->bytes;
    size_t end = bytes ? bytes->end : 0;
    size_t room = bytes ? bytes->room : KEPT_FIRST;

    if (bytes && (len <= room - end || kept_move_up(bytes, len))) {
        return true;
    }
    while (room - end < len) {
        room *= 2;
    }
    bytes = realloc(kept->bytes, sizeof *bytes + room);
    if (!bytes) {
        return false;
    }
    if (!kept->bytes) {
        bytes->start = 0;
        bytes->end = 0;
    }
    bytes->room = room;
    kept->bytes = bytes;
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
    memcpy(kept->bytes->bytes + kept->bytes->end, input.ptr, input.len);
    kept->bytes->end += input.len;
    return true;
}

void kept_drop(struct kept *kept, size_t len)
{
    ENSURE(len <= kept_len(kept));
    if (len == 0) {
        return;
    }
    kept->bytes->start += len;
    if (kept->bytes->start == kept->bytes->end) {
        free(kept->bytes);
        kept->bytes = NULL;
    }
}
