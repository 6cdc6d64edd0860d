/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_IDS_H
#define TANDEM_JOURNAL_IDS_H

// Ids are given out from blocks: a record says that ids below a number have perhaps been given out,
// and a start goes on behind the highest that it finds. Nobody may learn an id that no synced
// record covers: it might be given out again after a restart.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stdint.h>

// The size of a block; so many ids are asked for at a time at most.
#define IDS_BLOCK UINT64_C(65536)
#define IDS_AHEAD_MOST (64 * IDS_BLOCK)
// Who knows how many ids were given out by what is lost? More than enough are passed over.
#define IDS_LOST (UINT64_C(1) << 32)

struct ids {
    uint64_t end;     // ids below it may be given out: a synced record says so
    uint64_t asked;   // the same, as last appended
    uint64_t written; // the same, as last written
    uint64_t ahead;   // how many are asked for at a time
};

// Whether ids were given out, up to `next`, that nobody may learn yet.
static inline bool ids_short(const struct ids *ids, uint64_t next)
{
    return next > ids->end;
}
// Whether the next block should be asked for: well before it is needed.
static inline bool ids_wanted(const struct ids *ids, uint64_t next)
{
    return ids->asked < next + ids->ahead / 2;
}
// Whether a record of ids was written and is not synced yet.
static inline bool ids_wait(const struct ids *ids)
{
    return ids->end < ids->written;
}
// The disk is slower than ids go: more are asked for at a time.
static inline void ids_go_faster(struct ids *ids)
{
    if (ids->ahead < IDS_AHEAD_MOST) {
        ids->ahead *= 2;
    }
}
// Where the block that is to be asked for ends.
static inline uint64_t ids_next_end(const struct ids *ids, uint64_t next)
{
    return (next + IDS_BLOCK / 2) / IDS_BLOCK * IDS_BLOCK + ids->ahead;
}

#endif
