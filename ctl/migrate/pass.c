/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/pass.h"

#include "ctl/print/signals.h"
#include "ctl/migrate/lease.h"
#include "ctl/migrate/settle.h"
#include "ctl/migrate/tubes.h"
#include "ctl/migrate/walk.h"

// Whether to go on behind a batch.
static bool goes_on(struct migration *migration)
{
    migration->stopped = migration->stopped || signals_stopped(NULL);
    return !migration->stopped;
}

static bool move_ready(struct migration *migration)
{
    size_t next = 0;

    do {
        if (!lease_take(migration, &next)) {
            return false;
        }
        if (migration->batch.count == 0) {
            return true;
        }
        if (!settle_batch(migration)) {
            return false;
        }
    } while (goes_on(migration));
    return true;
}

static bool move_walked(struct migration *migration, bool (*walk)(struct migration *migration))
{
    while (goes_on(migration)) {
        if (!walk(migration)) {
            return false;
        }
        if (migration->batch.count == 0) {
            return true;
        }
        if (!settle_batch(migration)) {
            return false;
        }
    }
    return true;
}

bool pass_run(struct migration *migration)
{
    uint64_t reserved;

    migration->moved_before = migration->tally.moved;
    if (!tubes_ask(migration)) {
        return false;
    }
    reserved = migration->tubes->reserved;
    migration->held = reserved > migration->large_held ? reserved - migration->large_held : 0;
    return move_ready(migration) && move_walked(migration, walk_delayed) &&
           (!migration->buries || move_walked(migration, walk_buried));
}
