/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_BLOB_H
#define TANDEM_CORE_BASE_BLOB_H

// Reference-counted bytes that do not change once they are shared: a large job body, a result, a
// piece of partial data. Each stored pointer holds a reference. The counts are not atomic: one
// thread uses blobs.

#include "core/base/blake2b.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct blob {
    uint32_t refs;  /* private */
    uint32_t taken; /* private: allocated size, header included, and flags */
    size_t len;
    char bytes[];
};

// A blob of `len` uninitialized bytes with one reference; NULL: no memory.
struct blob *blob_new(size_t len) MUST_USE;

// A blob with a copy of `bytes`; NULL: no memory.
struct blob *blob_copy(struct slice bytes) MUST_USE;

// Adds a reference, and returns the blob.
struct blob *blob_ref(struct blob *blob);

// Drops a reference; the last one frees the blob. NULL is allowed.
void blob_unref(struct blob *blob);

// A longer blob has room for its digest after its bytes.
#define BLOB_DIGEST_ABOVE ((size_t)65536)

// The digest of a blob that is longer than BLOB_DIGEST_ABOVE: BLAKE2B_LEN bytes, valid as long as
// the blob. If it was not computed while the bytes arrived (blob_builder_hash()), the first call
// hashes all of them, about a second per GB, and stores it.
struct slice blob_digest(struct blob *blob);

static inline struct slice blob_slice(const struct blob *blob)
{
    return slice_of(blob->bytes, blob->len);
}

// A blob that grows as bytes arrive, so that an announced size alone allocates nothing. The total
// is known from the start, or lowered at the end to the bytes received, and is never exceeded.
struct blob_builder {
    struct blob *blob;    /* private: room for `room` bytes, blob->len of them filled */
    size_t room;          /* private */
    size_t total;         // bytes that will make the blob complete
    bool gives_way;       // fails when memory is short (memory.h)
    struct blake2b *hash; /* private: of the bytes so far; NULL: not hashed */
};

// Starts a builder for `total` bytes. Allocates nothing.
void blob_builder_init(struct blob_builder *builder, size_t total);

// Hashes the bytes as they arrive, so that the digest is known when the blob is complete. A blob
// that is too short for a digest is not hashed. If there is no memory for the hash, blob_digest()
// computes it later. Must be called before the first byte.
void blob_builder_hash(struct blob_builder *builder);

// Sets `*into` and `*len` to room for at least one byte while the blob is not complete, valid until
// the next call for this builder. False: no memory.
bool blob_builder_room(struct blob_builder *builder, char **into, size_t *len) MUST_USE;

// Tells that `len` bytes were written to the room.
void blob_builder_filled(struct blob_builder *builder, size_t len);

// Copies the bytes of `input` that are still missing. Returns their number, or (size_t)-1: no
// memory.
size_t blob_builder_take(struct blob_builder *builder, struct slice input) MUST_USE;

// The number of bytes that are still missing.
size_t blob_builder_missing(const struct blob_builder *builder);

// The bytes of memory that the blob and its hash use so far.
static inline size_t blob_builder_holds(const struct blob_builder *builder)
{
    return builder->room + (builder->hash ? sizeof *builder->hash : 0);
}

// Returns the complete blob, which the caller owns, and empties the builder. NULL: no memory (only
// if no room was ever requested).
struct blob *blob_builder_finish(struct blob_builder *builder) MUST_USE;

// Frees the incomplete blob. A zeroed builder is allowed.
void blob_builder_discard(struct blob_builder *builder);

#endif
