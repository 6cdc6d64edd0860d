/* SPDX-License-Identifier: MIT */
#include "server/net/backlog.h"

#include "core/base/memory.h"

enum { BACKLOG_FIRST = 256 };

// Moves the bytes to the front, if the room there is larger than they are.
static bool backlog_move_up(struct backlog_bytes *backlog, size_t len)
{
    size_t used = backlog->end - backlog->start;

    if (backlog->start <= used || len > backlog->room - used) {
        return false;
    }
    memmove(backlog->bytes, backlog->bytes + backlog->start, used);
    backlog->start = 0;
    backlog->end = used;
    return true;
}

// Makes room for `len` bytes behind the end; doubles, so that appending takes constant time on
// average.
static bool backlog_make_room(struct backlog *backlog, size_t len)
{
    struct backlog_bytes *bytes = backlog->bytes;
    size_t end = bytes ? bytes->end : 0;
    size_t room = bytes ? bytes->room : BACKLOG_FIRST;

    if (bytes && (len <= room - end || backlog_move_up(bytes, len))) {
        return true;
    }
    while (room - end < len) {
        room *= 2;
    }
    bytes = memory_resize_of(MEMORY_INPUT, backlog->bytes, backlog_holds(backlog),
                             sizeof *bytes + room);
    if (!bytes) {
        return false;
    }
    if (!backlog->bytes) {
        bytes->start = 0;
        bytes->end = 0;
    }
    bytes->room = room;
    backlog->bytes = bytes;
    return true;
}

bool backlog_append(struct backlog *backlog, struct slice added)
{
    if (added.len == 0) {
        return true;
    }
    if (!backlog_make_room(backlog, added.len)) {
        return false;
    }
    memcpy(backlog->bytes->bytes + backlog->bytes->end, added.ptr, added.len);
    backlog->bytes->end += added.len;
    return true;
}

void backlog_drop(struct backlog *backlog, size_t len)
{
    ENSURE(len <= backlog_len(backlog));
    if (len == 0) {
        return;
    }
    backlog->bytes->start += len;
    if (backlog->bytes->start == backlog->bytes->end) {
        memory_free_of(MEMORY_INPUT, backlog->bytes, backlog_holds(backlog));
        backlog->bytes = NULL;
    }
}
