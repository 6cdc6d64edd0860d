/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_INTAKE_H
#define TANDEM_PROTO_COMMON_INTAKE_H

// Receives a body that arrives in several pieces. The memory grows with the bytes that have
// arrived, so an announced size costs nothing. If many bytes are missing, the host receives them in
// place, without a copy.
//
// A body that is refused, or for which there is no memory, must be skipped to find the next
// command: intake_skip().
//
// An intake belongs to the connection that receives the body. The connection must finish or discard
// it.

#include "core/base/blob.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// If at least this many bytes are missing, the host receives them in place.
#define INTAKE_DIRECT_MIN ((size_t)16384)

// A longer gathered body becomes the body of a job without a copy; a shorter one is copied, so that
// the job is one piece of memory.
#define INTAKE_COPIED_MAX ((size_t)4096)

struct intake {
    struct blob_builder body; /* private */
    bool lacks_memory;        /* private: intake_place() found none */
};

enum intake_state {
    INTAKE_MORE,     // bytes are missing, and the input is used up
    INTAKE_COMPLETE, // all bytes have arrived
    INTAKE_NO_MEMORY // there is no memory for the missing bytes
};

// Begins to gather a body of `len` bytes, or, if its length is not known, of at most `len` bytes:
// see intake_end(). Allocates nothing.
void intake_begin(struct intake *intake, size_t len);

// The body belongs to a new job: if memory is short (memory.h), it is refused as if there were no
// memory.
static inline void intake_give_way(struct intake *intake)
{
    intake->body.gives_way = true;
}

// The body may be a key: a long one is hashed while it arrives (blob_digest()).
static inline void intake_hash(struct intake *intake)
{
    blob_builder_hash(&intake->body);
}

// Takes the bytes of the body off the front of the input. With INTAKE_NO_MEMORY, some bytes may
// have been taken.
enum intake_state intake_take(struct intake *intake, struct slice *input);

// The buffer for the next bytes, if enough are missing that the host should receive them in place.
// Otherwise, and without memory, `into` is NULL; the next intake_take() reports the lack of memory.
struct intake_room {
    char *into;
    size_t len;
};
struct intake_room intake_place(struct intake *intake);

// `len` bytes were written to the buffer.
void intake_filled(struct intake *intake, size_t len);

// The length of the complete body.
size_t intake_len(const struct intake *intake);

// The number of bytes that have not arrived.
size_t intake_missing(const struct intake *intake);

// The memory in use, in bytes.
static inline size_t intake_holds(const struct intake *intake)
{
    return blob_builder_holds(&intake->body);
}

// The body ends here: no bytes are missing.
void intake_end(struct intake *intake);

// Returns the complete body, and leaves the intake empty. NULL: no memory, which is possible only
// if the body is empty.
struct blob *intake_finish(struct intake *intake) MUST_USE;

// Frees the gathered bytes. A zeroed intake is allowed.
void intake_discard(struct intake *intake);

// Sets the body of a job that is about to be submitted. `blob` contains `bytes` if they were
// gathered; otherwise it is NULL. The contract borrows them.
void intake_set_body(struct job_spec *spec, struct slice bytes, struct blob *blob);

// Skips bytes of a refused body, of which `*left` are still to come. True: all were skipped.
bool intake_skip(uint64_t *left, struct slice *input);

#endif
