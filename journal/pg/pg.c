/* SPDX-License-Identifier: MIT */

// Rows of a database as a storage: the table. A unit has no allocated size: the next one begins
// when the current one is large enough.

#include "journal/pg/pg.h"

#include "core/base/log.h"
#include "journal/pg/pg_private.h"
#include "journal/space.h"

#include <stdlib.h>

// How often the lease is renewed before it would expire.
enum { RENEWALS = 5 };
// A unit has at least this share of all bytes, so that there are never many units.
enum { UNIT_SHARE = 8 };
// A commit has a high fixed cost, above all if it waits for a standby of the database, so it pays
// to wait until all clients that are answered together have submitted again.
enum { GATHER_SHARE = 2 };
// The delay after failed maintenance; and after failing to remove a unit, which grows with each
// try: a standby may read the unit for hours.
#define RETRY_FOR (200 * NSEC_PER_MSEC)
#define REMOVE_RETRY_MOST (10 * NSEC_PER_SEC)
enum { REMOVE_TRIES_COUNTED = 8 };

//
// Space
//

static bool pg_can_take(const struct journal *journal, uint64_t size, uint64_t extra)
{
    (void)journal;
    (void)size;
    (void)extra;
    return true;
}

static bool pg_next_fits(const struct journal *journal, uint64_t size, uint64_t beside)
{
    return pg_can_take(journal, size, beside);
}

static bool pg_may_begin(const struct journal *journal)
{
    const struct pg *pg = pg_of(journal);
    size_t passed = (size_t)(journal->segments.list.items - journal->segments.list.base);

    return pg->spare && pg->spare->run_count < pg->spare->run_capacity &&
           passed + journal->segments.list.count + 1 < journal->segments.list.capacity &&
           pg_units(journal) < UNITS_FULL;
}

static void pg_move_on(struct journal *journal, uint64_t size, uint64_t extra)
{
    const struct segment *current = journal->segments.current;
    uint64_t most = segments_used(&journal->segments) / UNIT_SHARE;

    (void)extra;
    most = most > journal->settings.segment_size ? most : journal->settings.segment_size;
    if (current->end > CODEC_SEGMENT_HEAD && current->end + size > most && pg_may_begin(journal)) {
        pg_follow(journal, pg_take_spare(journal));
    }
}

static bool pg_has_next(const struct journal *journal)
{
    (void)journal;
    return true;
}

static bool pg_next_too_small(const struct journal *journal)
{
    (void)journal;
    return false;
}

static uint64_t pg_bytes(const struct journal *journal)
{
    return segments_bytes(&journal->segments);
}

//
// Turns
//

static bool pg_is_lost(const struct journal *journal)
{
    return ownership_role(&pg_of(journal)->ownership) == OWNERSHIP_LOST;
}

// The database has not answered for almost the duration of the lease. No client was answered since,
// and each further try would take as long.
static bool pg_abandons_close(const struct journal *journal)
{
    const struct pg *pg = pg_of(journal);

    return !fence_is_open(&pg->fence, pg->settings.boot());
}

// This process had the lease, but could not write. Another opening finds out whether it still has
// it; but a refusal would be repeated.
static void pg_give_up_ownership(struct journal *journal)
{
    if (journal->slot.task.error != ERROR_REFUSED) {
        pg_lose(pg_of(journal));
    }
}

static bool pg_can_write(struct journal *journal)
{
    (void)pg_make_spare(journal);
    return !pg_is_lost(journal);
}

static bool pg_before_write(struct journal *journal)
{
    (void)journal;
    return false;
}

static void pg_has_written(struct journal *journal)
{
    (void)journal;
}

static nsec_t pg_renew_due_at(const struct journal *journal)
{
    nsec_t at = nsec_add(pg_of(journal)->renewed_at, pg_of(journal)->settings.ttl_for / RENEWALS);

    return at > journal->maintenance.retry_at ? at : journal->maintenance.retry_at;
}

// NSEC_NEVER: nothing is to be removed yet.
static nsec_t pg_remove_due_at(const struct journal *journal)
{
    nsec_t at = pg_of(journal)->remove_at;

    if (!journal->segments.removing || journal->position.synced < journal->segments.removable_at) {
        return NSEC_NEVER;
    }
    return at > journal->maintenance.retry_at ? at : journal->maintenance.retry_at;
}

static nsec_t pg_maintenance_due_at(const struct journal *journal)
{
    nsec_t renew_at = pg_renew_due_at(journal);
    nsec_t remove_at = pg_remove_due_at(journal);

    if (!journal->opened || pg_is_lost(journal)) {
        return NSEC_NEVER;
    }
    return renew_at < remove_at ? renew_at : remove_at;
}

static bool pg_renew(struct journal *journal)
{
    if (!journal->opened || pg_renew_due_at(journal) > journal_present(journal)) {
        return false;
    }
    pg_of(journal)->renewed_at = journal_present(journal);
    journal->slot.task =
        (struct task){.kind = TASK_RENEW_LEASE, .segment = journal->segments.current};
    return turn_give(journal);
}

static bool pg_remove_oldest(struct journal *journal)
{
    if (pg_remove_due_at(journal) > journal_present(journal)) {
        return false;
    }
    journal->slot.task = (struct task){.kind = TASK_REMOVE, .segment = journal->segments.removing};
    return turn_give(journal);
}

static bool pg_maintain(struct journal *journal)
{
    return !pg_is_lost(journal) && (pg_renew(journal) || pg_remove_oldest(journal));
}

// Rows are lost. Their content is still in memory and is written again: records that wait, at once,
// to another unit; all other live content by compaction.
static void pg_write_lost_rows(struct journal *journal)
{
    struct segment *next = journal->segments.replacement;

    fail_count(journal, journal->segments.current);
    fail_take_back(journal);
    ENSURE(next);
    journal->segments.replacement = NULL;
    pg_rewrite(journal, next);
    fail_move_to(journal, next);
}

static void pg_write_failed(struct journal *journal)
{
    if (pg_of(journal)->link.rows_lost && pg_can_rewrite(journal)) {
        pg_write_lost_rows(journal);
    } else {
        fail_again(journal);
    }
}

// The database answers. If no batch waits whose success would show that, compaction need not wait
// for one.
static void pg_end_failure(struct journal *journal)
{
    if (batch_empty(&journal->batches.writing)) {
        journal->failure.failing_at = NSEC_NEVER;
        journal->failure.count = 0;
    }
}

// Submitters are not held back for a unit that cannot be removed: a standby that has stalled may
// read it for long.
static void pg_take_in_removal(struct journal *journal)
{
    struct pg *pg = pg_of(journal);

    journal->maintenance.error = journal->slot.task.error;
    if (journal->maintenance.error) {
        nsec_t rest_for = RETRY_FOR << pg->remove_tries;

        pg->remove_tries += pg->remove_tries < REMOVE_TRIES_COUNTED;
        pg->remove_at = nsec_add(journal_present(journal),
                                 rest_for < REMOVE_RETRY_MOST ? rest_for : REMOVE_RETRY_MOST);
        return;
    }
    pg->remove_tries = 0;
    pg->oldest = journal->segments.removing->number + 1;
    segment_free(journal->segments.removing);
    journal->segments.removing = NULL;
}

static void pg_maintained(struct journal *journal)
{
    const struct task *task = &journal->slot.task;

    struct pg *pg = pg_of(journal);

    // Lost rows are written again even if there is nothing else to write.
    if (task->error && pg->link.rows_lost) {
        journal->maintenance.retry_at = nsec_add(journal_present(journal), RETRY_FOR);
        if (pg_can_rewrite(journal)) {
            pg_write_lost_rows(journal);
            pg_end_failure(journal);
        }
    } else if (task->kind == TASK_REMOVE) {
        pg_take_in_removal(journal);
    } else if (task->error) {
        journal->maintenance.retry_at = nsec_add(journal_present(journal), RETRY_FOR);
    }
}

static uint64_t pg_maintenance_share(const struct journal *journal, uint64_t written)
{
    (void)journal;
    (void)written;
    return 1;
}

static void pg_close_segment(const struct journal *journal, struct segment *segment)
{
    (void)journal;
    (void)segment;
}

static void pg_info(const struct journal *journal, struct store_info *info)
{
    struct ownership_snapshot snapshot;

    ownership_read(&pg_of(journal)->ownership, &snapshot);
    info->epoch = snapshot.lease.epoch;
    info->durable = rows_commits_are_durable(&snapshot.durability);
    info->replicated = snapshot.durability.standbys_wait;
}

// Handles of jobs contain no host name: jobs outlive the hosts.
static const char *pg_host(const struct journal *journal)
{
    return pg_of(journal)->settings.shard;
}

//
// The table
//

static void pg_discard(struct storage *storage)
{
    struct pg *pg = container_of(storage, struct pg, storage);

    if (pg->settings.rows) {
        pg->settings.rows->ops->free(pg->settings.rows);
    }
    segment_free(pg->spare);
    for (size_t i = 0; i < ROWS_UNITS_MAX; i++) {
        segment_free(pg->passed[i]);
    }
    packing_clear(&pg->link.packing);
    ownership_clear(&pg->ownership);
    free(pg);
}

// An opening that was stopped may have taken the lease.
static void pg_free(struct journal *journal)
{
    const struct pg *pg = pg_of(journal);

    if (progress_stops(&journal->progress) && fence_is_open(&pg->fence, pg->settings.boot())) {
        pg_let_go(journal);
    }
    pg_discard(journal->storage);
}

static const struct storage_ops pg_storage_ops = {
    .open = pg_open,
    .begin = pg_begin,
    .tidy = pg_tidy,
    .free = pg_free,
    .discard = pg_discard,
    .can_take = pg_can_take,
    .next_fits = pg_next_fits,
    .move_on = pg_move_on,
    .has_next = pg_has_next,
    .next_too_small = pg_next_too_small,
    .bytes = pg_bytes,
    .can_write = pg_can_write,
    .before_write = pg_before_write,
    .has_written = pg_has_written,
    .maintain = pg_maintain,
    .maintained = pg_maintained,
    .maintenance_share = pg_maintenance_share,
    .write_failed = pg_write_failed,
    .maintenance_due_at = pg_maintenance_due_at,
    .is_lost = pg_is_lost,
    .give_up_ownership = pg_give_up_ownership,
    .abandons_close = pg_abandons_close,
    .close = pg_close_segment,
    .info = pg_info,
    .host = pg_host,
    .gather_share = GATHER_SHARE,
    .segments_most = UNITS_MOST,
    .rewrites = true,
    .atomic = true,
};

struct storage *journal_pg_new(const struct pg_settings *settings)
{
    struct pg *pg = calloc(1, sizeof *pg);

    if (!pg) {
        return NULL;
    }
    pg->storage.ops = &pg_storage_ops;
    pg->settings = *settings;
    ownership_init(&pg->ownership);
    return &pg->storage;
}

void journal_pg_use(struct storage *storage, struct journal_rows *rows)
{
    container_of(storage, struct pg, storage)->settings.rows = rows;
}

const struct fence *journal_pg_fence(const struct storage *storage)
{
    return &container_of((struct storage *)(uintptr_t)storage, struct pg, storage)->fence;
}

void journal_pg_ownership(struct storage *storage, struct ownership_snapshot *snapshot)
{
    ownership_read(&container_of(storage, struct pg, storage)->ownership, snapshot);
}
