/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_BLOB_H
#define TANDEM_CORE_BASE_BLOB_H

// Counted bytes that do not change once they are shared: a large job body, a result, a piece of
// partial data. Whoever keeps a pointer holds a reference. One thread; counts are plain.

#include "core/base/blake2b.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct blob {
    uint32_t refs;  /* private */
    uint32_t taken; /* private: what a slab or malloc has for it, header included */
    size_t len;
    char bytes[];
};

// A blob of `len` bytes with one reference, its bytes not set yet; NULL without memory.
struct blob *blob_new(size_t len) MUST_USE;

// A blob with a copy of `bytes`; NULL without memory.
struct blob *blob_copy(struct slice bytes) MUST_USE;

// The same blob, with one reference more.
struct blob *blob_ref(struct blob *blob);

// Gives a reference back; the last one frees. NULL is allowed.
void blob_unref(struct blob *blob);

// A blob that is longer than this has room for its digest behind its bytes.
#define BLOB_DIGEST_ABOVE ((size_t)65536)

// The digest of a blob that is longer than BLOB_DIGEST_ABOVE, BLAKE2B_LEN bytes, which live as long
// as the blob. Where it was not made while the bytes arrived (blob_builder_hash()), all of them are
// hashed by the first call, a GB in about a second; the blob keeps it then.
struct slice blob_digest(struct blob *blob);

static inline struct slice blob_slice(const struct blob *blob)
{
    return slice_of(blob->bytes, blob->len);
}

// A blob that grows with the bytes that really arrive, so that an announced size costs nothing.
// The total is known from the start, or lowered to what is there when it is over, and is never
// exceeded.
struct blob_builder {
    struct blob *blob;    /* private: room for `room` bytes, blob->len of them filled */
    size_t room;          /* private */
    size_t total;         // bytes that will make the blob complete
    bool gives_way;       // it finds no memory where that is short (memory.h)
    struct blake2b *hash; /* private: of the bytes so far; NULL where they are not hashed */
};

// Starts a builder for `total` bytes. Allocates nothing.
void blob_builder_init(struct blob_builder *builder, size_t total);

// Has the bytes hashed as they arrive, so that the digest of the blob is known when it is complete.
// One that turns out to be too short to have a digest is not hashed. Without memory for it, nothing
// happens: blob_digest() hashes the bytes then. To be called before the first byte.
void blob_builder_hash(struct blob_builder *builder);

// Where the next bytes go: room for at least one byte while the blob is not complete, in `*into`
// and `*len`, valid until the next call with this builder. False without memory.
bool blob_builder_room(struct blob_builder *builder, char **into, size_t *len) MUST_USE;

// Says that `len` bytes were put where blob_builder_room said.
void blob_builder_filled(struct blob_builder *builder, size_t len);

// Takes as much of `input` as is missing; returns how much, or (size_t)-1 without memory.
size_t blob_builder_take(struct blob_builder *builder, struct slice input) MUST_USE;

// The number of bytes that are still missing.
size_t blob_builder_missing(const struct blob_builder *builder);

// How many bytes of memory the blob, and what hashes it, take up already.
static inline size_t blob_builder_holds(const struct blob_builder *builder)
{
    return builder->room + (builder->hash ? sizeof *builder->hash : 0);
}

// Hands over the complete blob and leaves the builder empty; NULL without memory (only where no
// byte was ever asked for).
struct blob *blob_builder_finish(struct blob_builder *builder) MUST_USE;

// Frees what was gathered. A zeroed builder is allowed.
void blob_builder_discard(struct blob_builder *builder);

#endif
