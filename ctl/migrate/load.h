/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_LOAD_H
#define TANDEM_CTL_MIGRATE_LOAD_H

// Jobs that are moved together, and what has become of each.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Jobs of a batch at most; bytes of bodies from which on the next batch has fewer jobs; and bytes
// that no batch exceeds, but for a single larger body.
#define LOAD_JOBS ((size_t)1000)
#define LOAD_BYTES ((size_t)8 << 20)
#define LOAD_BYTES_MAX ((size_t)64 << 20)

enum kind { KIND_READY = 'r', KIND_DELAYED = 'd', KIND_BURIED = 'b' };

struct item {
    uint64_t from;   // its id at the source
    uint64_t to;     // at the target; 0: no put was acknowledged
    uint64_t spoilt; // the same, where the target had no memory to queue it, and buried it
    enum kind kind;
    bool missing; // of those that are gone: no job has the id any more
    bool left;    // the target refuses it for good
    bool joined;  // the target has a live job of its key, which is not a copy
    bool staged;  // its copy is delayed until the source has deleted it
    bool gone;    // it cannot be deleted at the source, because it is not there or a worker has it
    bool back;    // its copy was taken from the target again
    size_t tube;  // of tubes
    uint32_t priority, delay, ttr;
    size_t body_at, body_len;
    uint64_t hash; // by which it is known again (identity.h); of a Tandem's job, its version
    uint64_t to_version, to_started; // of the copy, at a Tandem
    uint64_t put_by;                 // in seconds since 1970: it was put then, or earlier
};

struct load {
    struct item *items;
    size_t count;
    struct text bodies;
    size_t capacity; /* private */
};

void load_clear(struct load *batch);
void load_free(struct load *batch);

// The new one is zeroed but for its id and kind.
struct item *load_add(struct load *batch, uint64_t from, enum kind kind);
void load_set_body(struct load *batch, struct item *item, struct slice body);
struct slice load_body(const struct load *batch, const struct item *item);

// Forgets those that have the id 0.
void load_pack(struct load *batch);

#endif
