/* SPDX-License-Identifier: MIT */
#include "tests/bench/buffer.h"

#include <assert.h>
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Longer than any command line that is formatted here.
#define LINE_ROOM 256

void buffer_free(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

char *buffer_room(struct buffer *buffer, size_t len)
{
    if (buffer->head == buffer->tail)
        buffer->head = buffer->tail = 0;
    if (buffer->room - buffer->tail < len && buffer->head > 0) {
        memmove(buffer->bytes, buffer->bytes + buffer->head, buffer->tail - buffer->head);
        buffer->tail -= buffer->head;
        buffer->head = 0;
    }
    if (buffer->room - buffer->tail < len) {
        size_t room = 2 * buffer->room + len;
        char *bytes = realloc(buffer->bytes, room);
        if (!bytes)
            err(1, "no memory for %zu bytes of buffer", room);
        buffer->bytes = bytes;
        buffer->room = room;
    }
    return buffer->bytes + buffer->tail;
}

void buffer_filled(struct buffer *buffer, size_t len)
{
    assert(len <= buffer->room - buffer->tail);
    buffer->tail += len;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t len)
{
    memcpy(buffer_room(buffer, len), bytes, len);
    buffer_filled(buffer, len);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(buffer_room(buffer, LINE_ROOM), LINE_ROOM, format, args);
    va_end(args);
    assert(len >= 0 && len < LINE_ROOM);
    buffer_filled(buffer, (size_t)len);
}

void buffer_used(struct buffer *buffer, size_t len)
{
    assert(len <= buffer_len(buffer));
    buffer->head += len;
}

const char *buffer_bytes(const struct buffer *buffer)
{
    return buffer->bytes + buffer->head;
}

size_t buffer_len(const struct buffer *buffer)
{
    return buffer->tail - buffer->head;
}
