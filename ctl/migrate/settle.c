/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/settle.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/identity.h"
#include "ctl/migrate/lease.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tandem.h"
#include "ctl/migrate/target.h"

// Those whose put was acknowledged. What a worker of the source has got meanwhile is `gone`.
static bool delete_all(struct migration *migration)
{
    struct load *batch = &migration->batch;
    struct remote_reply answer;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].to) {
            remote_put(migration->source, "delete %llu", (unsigned long long)batch->items[i].from);
        }
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (item->to == 0) {
            continue;
        }
        if (!remote_reply_read(migration->source, &answer)) {
            return false;
        }
        item->gone = remote_reply_is(&answer, "NOT_FOUND");
        if (!item->gone && !remote_reply_is(&answer, "DELETED")) {
            return remote_reply_unexpected(migration->source, &answer, "delete");
        }
    }
    return true;
}

// What has become of the copies is told.
void settle_count(struct migration *migration)
{
    const struct load *batch = &migration->batch;
    struct tally *tally = &migration->tally;

    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (item->to == 0) {
            continue;
        }
        tally->joined += item->joined && !item->gone;
        if (!item->gone) {
            tally->moved++;
        } else if (item->back || item->joined) {
            tally->taken_back++;
        } else {
            tally->duplicates++;
            report_duplicate(migration, item);
        }
    }
}

// The next batch is to have about as many bytes as are good, and to be done before leases of it
// end: otherwise it would be taken and lost again and again.
static void adapt(struct migration *migration, bool lost)
{
    size_t most = migration->has_most ? (size_t)(LOAD_BYTES_MAX / migration->has_most) : LOAD_JOBS;

    most = most > LOAD_JOBS ? LOAD_JOBS : most > 0 ? most : 1;
    if (lost || migration->batch.bodies.len > LOAD_BYTES) {
        migration->want = migration->want > 1 ? migration->want / 2 : 1;
    } else {
        migration->want = migration->want * 4 < most ? migration->want * 4 : most;
    }
}

static bool put_all(struct migration *migration, bool *refused)
{
    return migration->target_api ? tandem_import(migration, refused)
                                 : target_put(migration, refused);
}

bool settle_deletions(struct migration *migration)
{
    return migration->source_api ? tandem_delete(migration) : delete_all(migration);
}

bool settle_copies(struct migration *migration)
{
    if (migration->target_api) {
        return tandem_take_back(migration) && tandem_confirm(migration);
    }
    return target_take_back(migration) && target_begin(migration);
}

bool settle_batch(struct migration *migration)
{
    struct load *batch = &migration->batch;
    uint64_t lost = migration->tally.lost;
    bool refused;

    if (!migration->source_api) {
        identity_note(migration);
    }
    if (!state_intend(migration->state, batch) || !lease_keep(migration) ||
        !put_all(migration, &refused) || !state_acknowledge(migration->state, batch) ||
        (migration->target && !target_bury(migration)) || !settle_deletions(migration) ||
        !settle_copies(migration)) {
        return false;
    }
    settle_count(migration);
    adapt(migration, migration->tally.lost > lost);
    load_clear(batch);
    return state_done(migration->state, &migration->tally) && report_progress(migration) &&
           !refused;
}
