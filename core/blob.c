/* SPDX-License-Identifier: MIT */
#include "core/blob.h"

#include <stdlib.h>

enum { BUILDER_FIRST = 4096 };

struct blob *blob_new(size_t len)
{
    struct blob *blob = len > SIZE_MAX - sizeof *blob ? NULL : malloc(sizeof *blob + len);

    if (blob) {
        blob->refs = 1;
        blob->len = len;
    }
    return blob;
}

struct blob *blob_copy(struct slice bytes)
{
    struct blob *blob = blob_new(bytes.len);

    if (blob && bytes.len) {
        memcpy(blob->bytes, bytes.ptr, bytes.len);
    }
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    blob->refs++;
    return blob;
}

void blob_unref(struct blob *blob)
{
    if (blob && --blob->refs == 0) {
        free(blob);
    }
}

void blob_builder_init(struct blob_builder *builder, size_t total)
{
    *builder = (struct blob_builder){.total = total};
}

// Doubles the room, within the total. Large blocks are moved by remapping pages, not by copying.
static bool builder_grow(struct blob_builder *builder)
{
    size_t room = builder->room ? builder->room * 2 : BUILDER_FIRST;
    struct blob *blob;

    if (room > builder->total) {
        room = builder->total;
    }
    blob = realloc(builder->blob, sizeof *blob + room);
    if (!blob) {
        return false;
    }
    if (!builder->blob) {
        blob->refs = 1;
        blob->len = 0;
    }
    builder->blob = blob;
    builder->room = room;
    return true;
}

bool blob_builder_room(struct blob_builder *builder, char **into, size_t *len)
{
    if ((!builder->blob || builder->blob->len == builder->room) && !builder_grow(builder)) {
        return false;
    }
    *into = builder->blob->bytes + builder->blob->len;
    *len = builder->room - builder->blob->len;
    return true;
}

void blob_builder_filled(struct blob_builder *builder, size_t len)
{
    builder->blob->len += len;
    ENSURE(builder->blob->len <= builder->room);
}

size_t blob_builder_take(struct blob_builder *builder, struct slice input)
{
    size_t taken = 0;

    while (taken < input.len && blob_builder_missing(builder) > 0) {
        char *into;
        size_t len;

        if (!blob_builder_room(builder, &into, &len)) {
            return (size_t)-1;
        }
        if (len > input.len - taken) {
            len = input.len - taken;
        }
        memcpy(into, input.ptr + taken, len);
        blob_builder_filled(builder, len);
        taken += len;
    }
    return taken;
}

size_t blob_builder_missing(const struct blob_builder *builder)
{
    return builder->total - (builder->blob ? builder->blob->len : 0);
}

struct blob *blob_builder_finish(struct blob_builder *builder)
{
    struct blob *blob;

    ENSURE(blob_builder_missing(builder) == 0);
    blob = builder->blob ? builder->blob : blob_new(builder->total);
    if (blob && builder->room > blob->len) {
        // The total was not known, and turned out to be less than there is room for.
        struct blob *fitting = realloc(blob, sizeof *blob + blob->len);

        if (fitting) {
            blob = fitting;
        }
    }
    *builder = (struct blob_builder){0};
    return blob;
}

void blob_builder_discard(struct blob_builder *builder)
{
    blob_unref(builder->blob);
    *builder = (struct blob_builder){0};
}
