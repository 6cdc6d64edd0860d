/* SPDX-License-Identifier: MIT */
#include "core/gathered.h"

#include "core/base/blob.h"
#include "core/base/memory.h"
#include "core/watch.h"

#define ROOM_LEAST ((size_t)256)

static size_t block_len(const struct gathered *gathered)
{
    return gathered ? sizeof *gathered + gathered->room : 0;
}

static bool resize(struct interest *interest, size_t room)
{
    struct gathered *old = interest->gathered;
    struct gathered *gathered =
        memory_resize_of(MEMORY_MEMOS, old, block_len(old), sizeof *gathered + room);

    if (!gathered) {
        return false;
    }
    if (!old) {
        *gathered = (struct gathered){.len = 0};
    }
    gathered->room = room;
    interest->gathered = gathered;
    return true;
}

static bool make_room(struct interest *interest, size_t len)
{
    size_t room = interest->gathered ? interest->gathered->room : ROOM_LEAST;

    while (room < len) {
        room *= 2;
    }
    return (interest->gathered && room == interest->gathered->room) ||
           (!memory_is_short() && resize(interest, room));
}

// What there was is of no use without the rest.
static bool give_up(struct interest *interest, enum result_data why)
{
    if (!interest->gathered && !resize(interest, 0)) {
        return false;
    }
    interest->gathered->kept = why;
    interest->gathered->len = 0;
    return true;
}

bool gathered_add(struct interest *interest, const struct blob *part)
{
    struct gathered *gathered = interest->gathered;
    size_t len = gathered ? gathered->len : 0;

    if (!part || part->len == 0 || (gathered && gathered->kept != RESULT_WHOLE)) {
        return true;
    }
    if (part->len > RESULT_MAX - len) {
        return give_up(interest, RESULT_TOO_LARGE);
    }
    if (!make_room(interest, len + part->len)) {
        return give_up(interest, RESULT_LOST);
    }
    gathered = interest->gathered;
    memcpy(gathered->bytes + gathered->len, part->bytes, part->len);
    gathered->len += part->len;
    return true;
}

void gathered_drop(struct interest *interest)
{
    memory_free_of(MEMORY_MEMOS, interest->gathered, block_len(interest->gathered));
    interest->gathered = NULL;
}
