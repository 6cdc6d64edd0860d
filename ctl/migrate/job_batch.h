/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_JOB_BATCH_H
#define TANDEM_CTL_MIGRATE_JOB_BATCH_H

// The jobs that are moved together, with their bodies and what became of each.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The maximum number of jobs; the bytes of bodies above which the next batch has fewer jobs; and
// the maximum of bytes, except for a single larger body.
#define BATCH_JOBS_MAX ((size_t)1000)
#define BATCH_BYTES_GOOD ((size_t)8 << 20)
#define BATCH_BYTES_MAX ((size_t)64 << 20)

enum kind { KIND_READY = 'r', KIND_DELAYED = 'd', KIND_BURIED = 'b' };

struct item {
    uint64_t from;   // its id at the source
    uint64_t to;     // its id at the target; 0: no put was acknowledged
    uint64_t spoilt; // its id at the target, which had no memory to queue the job and buried it
    enum kind kind;
    bool missing; // if `gone`: no job has the id any more
    bool left;    // the target refuses it permanently
    bool joined;  // a live job of the target has its key; that job is not a copy
    bool staged;  // its copy is delayed until it is deleted at the source
    bool gone;    // it cannot be deleted at the source: it does not exist, or a worker has it
    bool back;    // its copy was deleted at the target
    size_t tube;  // index in the tubes
    uint32_t priority, delay, ttr;
    size_t body_at, body_len;
    uint64_t hash; // identifies it (identity.h); for a job of a Tandem, its version
    uint64_t to_version, to_started; // versions of the copy at a Tandem
    uint64_t put_by;                 // seconds since 1970: it was put then, or earlier
};

struct job_batch {
    struct item *items;
    size_t count;
    struct text bodies;
    size_t capacity; /* private */
};

void job_batch_clear(struct job_batch *batch);
void job_batch_free(struct job_batch *batch);

// Adds an item, which is zeroed except for its id and kind. The pointer is valid until the next one
// is added.
struct item *job_batch_add(struct job_batch *batch, uint64_t from, enum kind kind);
void job_batch_set_body(struct job_batch *batch, struct item *item, struct slice body);
struct slice job_batch_body(const struct job_batch *batch, const struct item *item);

// Removes the items whose id at the source is 0.
void job_batch_pack(struct job_batch *batch);

#endif
