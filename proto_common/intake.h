/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_INTAKE_H
#define TANDEM_PROTO_COMMON_INTAKE_H

// The intake of a body that does not come in one piece: its bytes are gathered from the input as
// they arrive, in memory that grows with what has really come, so that an announced size costs
// nothing; where much is missing, the host is told to receive it in its place, without a copy.
//
// A body that is refused, or for which memory lacks, still has to be passed over to find what
// follows it: intake_skip().
//
// An intake belongs to the connection that receives the body, which has to finish or discard it.

#include "core/base/blob.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where at least so much is missing, the host receives it in its place.
#define INTAKE_DIRECT_MIN ((size_t)16384)

// A gathered body that is longer than this becomes the body of a job as it is; a shorter one is
// copied, so that the job is one piece of memory.
#define INTAKE_COPIED_MAX ((size_t)4096)

struct intake {
    struct blob_builder body; /* private */
    bool lacks_memory;        /* private: intake_place() found none */
};

enum intake_state {
    INTAKE_MORE,     // bytes are missing, and the input is used up
    INTAKE_COMPLETE, // all bytes are there
    INTAKE_NO_MEMORY // for what is still missing
};

// Begins to gather a body of `len` bytes, or of at most as many where its length is not known: see
// intake_end(). Allocates nothing.
void intake_begin(struct intake *intake, size_t len);

// The body is of new work, which gives way where memory is short (memory.h): it is refused then, as
// it is without memory.
static inline void intake_give_way(struct intake *intake)
{
    intake->body.gives_way = true;
}

// The body is a key, or may be one: it is hashed as it comes (blob_digest()), if it is long.
static inline void intake_hash(struct intake *intake)
{
    blob_builder_hash(&intake->body);
}

// Takes what there is of the body off the front of the input. Without memory, a part of the input
// may have been taken all the same.
enum intake_state intake_take(struct intake *intake, struct slice *input);

// Where the next bytes belong, if enough are missing that the host should put them there; NULL
// otherwise, and without memory, which the next intake_take() says.
struct intake_room {
    char *into;
    size_t len;
};
struct intake_room intake_place(struct intake *intake);

// `len` bytes were put there.
void intake_filled(struct intake *intake, size_t len);

// The length that the body will have.
size_t intake_len(const struct intake *intake);

// How many bytes of that are missing.
size_t intake_missing(const struct intake *intake);

// How many bytes of memory it takes up so far.
static inline size_t intake_holds(const struct intake *intake)
{
    return blob_builder_holds(&intake->body);
}

// The body ends here: nothing is missing any more.
void intake_end(struct intake *intake);

// Hands over the body, nothing of which is missing, and leaves the intake empty. NULL without
// memory: only where it has no byte.
struct blob *intake_finish(struct intake *intake) MUST_USE;

// Frees what was gathered. A zeroed intake is allowed.
void intake_discard(struct intake *intake);

// Makes `bytes` the body of a job that is about to be submitted; `blob` has them where they were
// gathered, else it is NULL. The contract borrows either.
void intake_set_body(struct job_spec *spec, struct slice bytes, struct blob *blob);

// Passes over bytes of a body that nobody wants, `*left` of which are still to come. True when
// none are.
bool intake_skip(uint64_t *left, struct slice *input);

#endif
