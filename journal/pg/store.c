/* SPDX-License-Identifier: MIT */

// What the general half of the journal asks of rows: the table. A unit has no size that was set
// aside: the next one begins when this one is large enough.

#include "journal/pg/store.h"

#include "core/base/log.h"
#include "journal/pg/pg.h"
#include "journal/space.h"

#include <stdlib.h>

// The claim is renewed so many times before it lapses.
enum { RENEWALS = 5 };
// A unit is at least this share of all there is, so that there are never very many.
enum { UNIT_SHARE = 8 };
// A commit costs so much beside what it commits, above all where a standby is waited for, that it
// pays to wait until all have come who are answered together.
enum { GATHER_SHARE = 2 };
// How long upkeep that has failed rests; and a unit that cannot be removed, the longer the oftener:
// who reads it may do so for hours.
#define RETRY_FOR (200 * NSEC_PER_MSEC)
#define REMOVE_RETRY_MOST (10 * NSEC_PER_SEC)
enum { REMOVE_TRIES_COUNTED = 8 };

//
// Space
//

static bool can_take(const struct journal *journal, uint64_t size, uint64_t extra)
{
    (void)journal;
    (void)size;
    (void)extra;
    return true;
}

static bool next_fits(const struct journal *journal, uint64_t size, uint64_t beside)
{
    return can_take(journal, size, beside);
}

static bool may_begin(const struct journal *journal)
{
    const struct pg *pg = pg_of(journal);
    size_t passed = (size_t)(journal->row.segments.list - journal->row.segments.base);

    return pg->spare && pg->spare->run_count < pg->spare->run_capacity &&
           passed + journal->row.segments.count + 1 < journal->row.segments.capacity &&
           pg_units(journal) < UNITS_FULL;
}

static void move_on(struct journal *journal, uint64_t size, uint64_t extra)
{
    const struct segment *current = journal->row.current;
    uint64_t most = row_used(&journal->row) / UNIT_SHARE;

    (void)extra;
    most = most > journal->settings.segment_size ? most : journal->settings.segment_size;
    if (current->end > CODEC_SEGMENT_HEAD && current->end + size > most && may_begin(journal)) {
        pg_follow(journal, pg_take_spare(journal));
    }
}

static bool has_next(const struct journal *journal)
{
    (void)journal;
    return true;
}

static bool next_lacks_copy(const struct journal *journal)
{
    (void)journal;
    return false;
}

static uint64_t bytes(const struct journal *journal)
{
    return row_bytes(&journal->row);
}

//
// Turns
//

static bool is_lost(const struct journal *journal)
{
    return outlook_role(&pg_of(journal)->outlook) == OUTLOOK_LOST;
}

// The database has not answered for nearly as long as the lease lasts. Nothing has been answered
// since, and each further try would take as long.
static bool is_hopeless(const struct journal *journal)
{
    const struct pg *pg = pg_of(journal);

    return !fence_is_open(&pg->fence, pg->settings.boot());
}

// The lease was had, but nothing could be written. Whether it still is, or another has it by now,
// is for an opening anew to find out; but what is refused once is refused again.
static void forsake(struct journal *journal)
{
    if (journal->work.task.error != ERROR_REFUSED) {
        pg_lose(pg_of(journal));
    }
}

static bool can_write(struct journal *journal)
{
    (void)pg_make_spare(journal);
    return !is_lost(journal);
}

static bool before_write(struct journal *journal)
{
    (void)journal;
    return false;
}

static void has_written(struct journal *journal)
{
    (void)journal;
}

static nsec_t renew_every(const struct journal *journal)
{
    return pg_of(journal)->settings.ttl_for / RENEWALS;
}

static nsec_t renew_due_at(const struct journal *journal)
{
    nsec_t at = nsec_add(pg_of(journal)->renewed_at, renew_every(journal));

    return at > journal->upkeep.retry_at ? at : journal->upkeep.retry_at;
}

// NSEC_NEVER: nothing is to be removed yet.
static nsec_t remove_due_at(const struct journal *journal)
{
    nsec_t at = pg_of(journal)->remove_at;

    if (!journal->row.removing || journal->position.synced < journal->row.removable_at) {
        return NSEC_NEVER;
    }
    return at > journal->upkeep.retry_at ? at : journal->upkeep.retry_at;
}

static nsec_t upkeep_due_at(const struct journal *journal)
{
    nsec_t renew_at = renew_due_at(journal);
    nsec_t remove_at = remove_due_at(journal);

    if (!journal->opened || is_lost(journal)) {
        return NSEC_NEVER;
    }
    return renew_at < remove_at ? renew_at : remove_at;
}

static bool renew(struct journal *journal)
{
    if (!journal->opened || renew_due_at(journal) > journal_present(journal)) {
        return false;
    }
    pg_of(journal)->renewed_at = journal_present(journal);
    journal->work.task = (struct task){.kind = TASK_RENEW, .segment = journal->row.current};
    return turn_give(journal);
}

static bool remove_oldest(struct journal *journal)
{
    if (remove_due_at(journal) > journal_present(journal)) {
        return false;
    }
    journal->work.task = (struct task){.kind = TASK_REMOVE, .segment = journal->row.removing};
    return turn_give(journal);
}

static bool upkeep_give(struct journal *journal)
{
    return !is_lost(journal) && (renew(journal) || remove_oldest(journal));
}

// The database answers. Where nothing waits to be written, whose success would say so, compaction
// is not to wait for that.
static void end_failure(struct journal *journal)
{
    if (batch_empty(&journal->batches.writing)) {
        journal->failure.failing_at = NSEC_NEVER;
        journal->failure.count = 0;
    }
}

// Whoever submits is not held back for a unit that cannot be removed: one who follows, and has
// stalled, may read it for long.
static void take_in_removal(struct journal *journal)
{
    struct pg *pg = pg_of(journal);

    journal->upkeep.error = journal->work.task.error;
    if (journal->upkeep.error) {
        nsec_t rest_for = RETRY_FOR << pg->remove_tries;

        pg->remove_tries += pg->remove_tries < REMOVE_TRIES_COUNTED;
        pg->remove_at = nsec_add(journal_present(journal),
                                 rest_for < REMOVE_RETRY_MOST ? rest_for : REMOVE_RETRY_MOST);
        return;
    }
    pg->remove_tries = 0;
    pg->oldest = journal->row.removing->number + 1;
    segment_free(journal->row.removing);
    journal->row.removing = NULL;
}

static void upkeep_take_in(struct journal *journal)
{
    const struct task *task = &journal->work.task;

    struct pg *pg = pg_of(journal);

    // What is gone is written anew without waiting for somebody to have something to write.
    if (task->error && pg->link.rows_lost) {
        journal->upkeep.retry_at = nsec_add(journal_present(journal), RETRY_FOR);
        if (pg_can_renew(journal)) {
            fail_segment(journal);
            end_failure(journal);
        }
    } else if (task->kind == TASK_REMOVE) {
        take_in_removal(journal);
    } else if (task->error) {
        journal->upkeep.retry_at = nsec_add(journal_present(journal), RETRY_FOR);
    }
}

static uint64_t upkeep_after(const struct journal *journal, uint64_t written)
{
    (void)journal;
    (void)written;
    return 1;
}

static bool tries_again(struct journal *journal)
{
    return !pg_of(journal)->link.rows_lost || !pg_can_renew(journal);
}

// Rows are gone that were there. What they said is in memory still, and is written anew: what waits
// at once, to another unit, and all that lives by compaction.
static struct segment *replace(struct journal *journal, struct segment *bad)
{
    struct segment *next = journal->row.replacement;

    (void)bad;
    ENSURE(next);
    journal->row.replacement = NULL;
    pg_renew(journal, next);
    return next;
}

static void close_segment(const struct journal *journal, struct segment *segment)
{
    (void)journal;
    (void)segment;
}

static void tell(const struct journal *journal, struct store_info *info)
{
    struct outlook_shown shown;

    outlook_look(&pg_of(journal)->outlook, &shown);
    info->epoch = shown.lease.epoch;
    info->durable = rows_care_durable(&shown.care);
    info->replicated = shown.care.standbys_wait;
}

// Handles of jobs have no name of a machine in them: jobs outlive those.
static const char *host(const struct journal *journal)
{
    return pg_of(journal)->settings.shard;
}

//
// The table
//

static void discard(struct storage *storage)
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
    outlook_clear(&pg->outlook);
    free(pg);
}

// An opening that was stopped may have got the lease.
static void pg_free(struct journal *journal)
{
    const struct pg *pg = pg_of(journal);

    if (progress_stops(&journal->progress) && fence_is_open(&pg->fence, pg->settings.boot())) {
        pg_let_go(journal);
    }
    discard(journal->storage);
}

static const struct storage_ops ops = {
    .open = pg_open,
    .begin = pg_begin,
    .tidy = pg_tidy,
    .free = pg_free,
    .discard = discard,
    .can_take = can_take,
    .next_fits = next_fits,
    .move_on = move_on,
    .has_next = has_next,
    .next_lacks_copy = next_lacks_copy,
    .bytes = bytes,
    .can_write = can_write,
    .before_write = before_write,
    .has_written = has_written,
    .upkeep_give = upkeep_give,
    .upkeep_take_in = upkeep_take_in,
    .upkeep_after = upkeep_after,
    .replace = replace,
    .tries_again = tries_again,
    .upkeep_due_at = upkeep_due_at,
    .is_lost = is_lost,
    .forsake = forsake,
    .is_hopeless = is_hopeless,
    .close = close_segment,
    .tell = tell,
    .host = host,
    .gather_share = GATHER_SHARE,
    .segments_most = UNITS_MOST,
    .renews = true,
    .atomic = true,
};

struct storage *journal_pg_new(const struct pg_settings *settings)
{
    struct pg *pg = calloc(1, sizeof *pg);

    if (!pg) {
        return NULL;
    }
    pg->storage.ops = &ops;
    pg->settings = *settings;
    outlook_init(&pg->outlook);
    return &pg->storage;
}

void journal_pg_use(struct storage *storage, struct rows *rows)
{
    container_of(storage, struct pg, storage)->settings.rows = rows;
}

const struct fence *journal_pg_fence(const struct storage *storage)
{
    return &container_of((struct storage *)(uintptr_t)storage, struct pg, storage)->fence;
}

void journal_pg_look(struct storage *storage, struct outlook_shown *shown)
{
    outlook_look(&container_of(storage, struct pg, storage)->outlook, shown);
}
