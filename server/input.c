/* SPDX-License-Identifier: MIT */
#include "server/input.h"

#include <stdlib.h>

enum { INPUT_FIRST = 256 };

// What has been dropped in front is worth moving for only once it is the larger part.
static bool input_move_up(struct input_bytes *in, size_t len)
{
    size_t used = in->end - in->start;

    if (in->start <= used || len > in->room - used) {
        return false;
    }
    memmove(in->bytes, in->bytes + in->start, used);
    in->start = 0;
    in->end = used;
    return true;
}

// Sees to room for `len` bytes behind the end, doubling it so that appending stays cheap.
static bool input_make_room(struct input *in, size_t len)
{
    struct input_bytes *bytes = in->bytes;
    size_t end = bytes ? bytes->end : 0;
    size_t room = bytes ? bytes->room : INPUT_FIRST;

    if (bytes && (len <= room - end || input_move_up(bytes, len))) {
        return true;
    }
    while (room - end < len) {
        room *= 2;
    }
    bytes = realloc(in->bytes, sizeof *bytes + room);
    if (!bytes) {
        return false;
    }
    if (!in->bytes) {
        bytes->start = 0;
        bytes->end = 0;
    }
    bytes->room = room;
    in->bytes = bytes;
    return true;
}

bool input_append(struct input *in, struct slice input)
{
    if (input.len == 0) {
        return true;
    }
    if (!input_make_room(in, input.len)) {
        return false;
    }
    memcpy(in->bytes->bytes + in->bytes->end, input.ptr, input.len);
    in->bytes->end += input.len;
    return true;
}

void input_drop(struct input *in, size_t len)
{
    ENSURE(len <= input_len(in));
    if (len == 0) {
        return;
    }
    in->bytes->start += len;
    if (in->bytes->start == in->bytes->end) {
        free(in->bytes);
        in->bytes = NULL;
    }
}
