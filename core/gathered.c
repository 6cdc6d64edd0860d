/* SPDX-License-Identifier: MIT */
#include "core/watch.h"

#include "core/base/blob.h"
#include "core/base/memory.h"

#define ROOM_LEAST ((size_t)256)

static size_t block_len(const struct partial_result *partial_result)
{
    return partial_result ? sizeof *partial_result + partial_result->room : 0;
}

static bool resize(struct interest *interest, size_t room)
{
    struct partial_result *old = interest->partial_result;
    struct partial_result *partial_result =
        memory_resize_of(MEMORY_MEMOS, old, block_len(old), sizeof *partial_result + room);

    if (!partial_result) {
        return false;
    }
    if (!old) {
        *partial_result = (struct partial_result){.len = 0};
    }
    partial_result->room = room;
    interest->partial_result = partial_result;
    return true;
}

static bool make_room(struct interest *interest, size_t len)
{
    size_t room = interest->partial_result ? interest->partial_result->room : ROOM_LEAST;

    while (room < len) {
        room *= 2;
    }
    return (interest->partial_result && room == interest->partial_result->room) ||
           (!memory_is_short() && resize(interest, room));
}

// What there was is of no use without the rest.
static bool give_up(struct interest *interest, enum result_data why)
{
    if (!interest->partial_result && !resize(interest, 0)) {
        return false;
    }
    interest->partial_result->kept = why;
    interest->partial_result->len = 0;
    return true;
}

bool partial_result_add(struct interest *interest, const struct blob *part)
{
    struct partial_result *partial_result = interest->partial_result;
    size_t len = partial_result ? partial_result->len : 0;

    if (!part || part->len == 0 || (partial_result && partial_result->kept != RESULT_WHOLE)) {
        return true;
    }
    if (part->len > RESULT_MAX - len) {
        return give_up(interest, RESULT_TOO_LARGE);
    }
    if (!make_room(interest, len + part->len)) {
        return give_up(interest, RESULT_LOST);
    }
    partial_result = interest->partial_result;
    memcpy(partial_result->bytes + partial_result->len, part->bytes, part->len);
    partial_result->len += part->len;
    return true;
}

void partial_result_drop(struct interest *interest)
{
    memory_free_of(MEMORY_MEMOS, interest->partial_result, block_len(interest->partial_result));
    interest->partial_result = NULL;
}
