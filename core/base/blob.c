/* SPDX-License-Identifier: MIT */
#include "core/base/blob.h"

#include "core/base/memory.h"
#include "core/base/slab.h"

enum { BUILDER_FIRST = 4096 };

// The longest blob: its size in pages must fit beside two flag bits.
#define LEN_MAX ((size_t)1 << 41)

// The slab of all blobs, so that the memory of a burst of unread results returns to the system even
// if other objects were allocated meanwhile. Larger blobs come from malloc, which maps each of them
// separately.
static struct slab blob_slab;
static bool blob_slab_ready;

// Flag in blob->taken: the blob is from malloc, and the rest is its size in pages.
#define FROM_MALLOC (UINT32_C(1) << 31)
// Flag in blob->taken: the digest is stored after the bytes.
#define DIGESTED (UINT32_C(1) << 30)
enum { PAGE = 4096 };

static size_t blob_round_to_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static size_t blob_taken_size(const struct blob *blob)
{
    uint32_t size = blob->taken & ~(FROM_MALLOC | DIGESTED);

    return blob->taken & FROM_MALLOC ? (size_t)size * PAGE : size;
}

static uint32_t blob_taken_mark(size_t size)
{
    return size > SLAB_LARGEST ? FROM_MALLOC | (uint32_t)(blob_round_to_pages(size) / PAGE)
                               : (uint32_t)size;
}

// The size of a blob with room for `len` bytes, and their digest if it can have one.
static size_t blob_whole_size(size_t len)
{
    return sizeof(struct blob) + len + (len > BLOB_DIGEST_ABOVE ? BLAKE2B_LEN : 0);
}

// Allocates a blob for `len` bytes; its length is not set.
static struct blob *blob_alloc(size_t len)
{
    size_t size = blob_whole_size(len);
    bool is_large = size > SLAB_LARGEST;
    struct blob *blob;

    if (!blob_slab_ready) {
        slab_init(&blob_slab);
        blob_slab.kind = MEMORY_BODIES;
        blob_slab_ready = true;
    }
    if (len > LEN_MAX) {
        return NULL;
    }
    blob = is_large ? memory_alloc_of(MEMORY_BODIES, blob_round_to_pages(size))
                    : slab_alloc(&blob_slab, size);
    if (blob) {
        blob->refs = 1;
        blob->taken = blob_taken_mark(size);
    }
    return blob;
}

static void blob_free(struct blob *blob)
{
    if (blob->taken & FROM_MALLOC) {
        memory_free_of(MEMORY_BODIES, blob, blob_taken_size(blob));
    } else {
        slab_free(&blob_slab, blob, blob_taken_size(blob));
    }
}

// Resizes the blob to `room` bytes, at least its length. NULL: no memory, and the blob is
// unchanged.
static struct blob *blob_resize(struct blob *blob, size_t room)
{
    size_t size = blob_whole_size(room);
    struct blob *moved;

    if (blob->taken & FROM_MALLOC && size > SLAB_LARGEST && room <= LEN_MAX) {
        // Pages are remapped instead of copied.
        moved =
            memory_resize_of(MEMORY_BODIES, blob, blob_taken_size(blob), blob_round_to_pages(size));
        if (moved) {
            moved->taken = blob_taken_mark(size);
        }
        return moved;
    }
    moved = blob_alloc(room);
    if (moved) {
        moved->len = blob->len;
        memcpy(moved->bytes, blob->bytes, blob->len);
        blob_free(blob);
    }
    return moved;
}

struct blob *blob_new(size_t len)
{
    struct blob *blob = blob_alloc(len);

    if (blob) {
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
        blob_free(blob);
    }
}

struct slice blob_digest(struct blob *blob)
{
    unsigned char *digest = (unsigned char *)blob->bytes + blob->len;

    ENSURE(blob->len > BLOB_DIGEST_ABOVE);
    if (!(blob->taken & DIGESTED)) {
        struct blake2b hash;

        blake2b_init(&hash);
        blake2b_finish(&hash, blob->bytes, blob->len, digest);
        blob->taken |= DIGESTED;
    }
    return slice_of((const char *)digest, BLAKE2B_LEN);
}

void blob_builder_init(struct blob_builder *builder, size_t total)
{
    *builder = (struct blob_builder){.total = total};
}

void blob_builder_hash(struct blob_builder *builder)
{
    if (builder->total <= BLOB_DIGEST_ABOVE) {
        return;
    }
    builder->hash = memory_alloc(sizeof *builder->hash);
    if (builder->hash) {
        blake2b_init(builder->hash);
    }
}

static void blob_builder_end_hash(struct blob_builder *builder)
{
    memory_free(builder->hash, sizeof *builder->hash);
    builder->hash = NULL;
}

// Doubles the room, up to the total.
static bool blob_builder_grow(struct blob_builder *builder)
{
    size_t room = builder->room ? builder->room * 2 : BUILDER_FIRST;
    struct blob *blob;

    if (room > builder->total) {
        room = builder->total;
    }
    if (builder->gives_way && !memory_has_room(room - builder->room)) {
        return false;
    }
    blob = builder->blob ? blob_resize(builder->blob, room) : blob_alloc(room);
    if (!blob) {
        return false;
    }
    if (!builder->blob) {
        blob->len = 0;
    }
    builder->blob = blob;
    builder->room = room;
    return true;
}

bool blob_builder_room(struct blob_builder *builder, char **into, size_t *len)
{
    if ((!builder->blob || builder->blob->len == builder->room) && !blob_builder_grow(builder)) {
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
    if (builder->hash && builder->blob->len > BLOB_DIGEST_ABOVE) {
        blake2b_update(builder->hash, builder->blob->bytes, builder->blob->len);
    }
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
        // The total was lowered to less than the room.
        struct blob *fitting = blob_resize(blob, blob->len);

        if (fitting) {
            blob = fitting;
        }
    }
    if (builder->hash && blob && blob->len > BLOB_DIGEST_ABOVE) {
        blake2b_finish(builder->hash, blob->bytes, blob->len,
                       (unsigned char *)blob->bytes + blob->len);
        blob->taken |= DIGESTED;
    }
    blob_builder_end_hash(builder);
    *builder = (struct blob_builder){0};
    return blob;
}

void blob_builder_discard(struct blob_builder *builder)
{
    blob_unref(builder->blob);
    blob_builder_end_hash(builder);
    *builder = (struct blob_builder){0};
}
