/* SPDX-License-Identifier: MIT */

// The tasks of an owner. A task that failed, or is in doubt, is given again later; before that, the
// lease is renewed, which shows what was committed.

#include "journal/pg/pg.h"

#include "core/base/log.h"
#include "journal/pg/pg_private.h"

#include <string.h>

// Standbys are woken no more often than this.
#define TELL_EVERY_FOR (100 * NSEC_PER_MSEC)

static int worker_error(struct pg *pg, enum rows_outcome outcome)
{
    switch (outcome) {
    case ROWS_DONE:
        if (!pg->link.kept_from) {
            pg_note_back(pg);
        }
        return 0;
    case ROWS_LOST:
        return ERROR_LOST;
    case ROWS_REFUSED:
        pg_note_away(pg);
        return ERROR_REFUSED;
    case ROWS_DOUBT:
    case ROWS_AWAY:
    case ROWS_STOPPED:
        pg_note_away(pg);
        return ERROR_AWAY;
    }
    UNREACHABLE();
}

// The database may have lost the transaction that took the lease. If no other process has taken it
// since, it is taken again: otherwise the content of memory would be lost.
static enum rows_outcome worker_take_again(struct pg *pg, struct rows_lease *lease)
{
    struct journal_rows *rows = pg->settings.rows;
    struct rows_lease seen;
    enum rows_outcome outcome = rows->ops->look(rows, &seen);
    bool ours;

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    if (seen.epoch >= pg->link.epoch) {
        return ROWS_LOST;
    }
    // It was taken again, but the answer was lost.
    ours = strcmp(seen.holder, pg->settings.node) == 0 && !seen.released;
    if (ours) {
        pg->link.epoch = seen.epoch;
        pg->link.taken_again = true;
        return rows->ops->renew(rows, pg->link.epoch, lease);
    }
    if (seen.epoch > 0 && !seen.released && seen.left_for > 0) {
        return ROWS_AWAY;
    }
    outcome = rows->ops->take(rows, &seen, lease);
    if (outcome != ROWS_DONE) {
        return outcome == ROWS_LOST ? ROWS_AWAY : outcome;
    }
    pg->link.epoch = lease->epoch;
    pg->link.taken_again = true;
    return ROWS_DONE;
}

static enum rows_outcome worker_renew(struct pg *pg, struct rows_lease *lease)
{
    enum rows_outcome outcome = pg_ops(pg)->renew(pg->settings.rows, pg->link.epoch, lease);

    return outcome == ROWS_LOST ? worker_take_again(pg, lease) : outcome;
}

// Renews the lease and compares: besides the known rows, the database has either all of the packed
// rows, of which there are `added`, or none of them. `*all` tells which.
static int worker_settle(struct pg *pg, uint64_t added, bool *all)
{
    nsec_t asked_at = pg->settings.boot();
    const struct pg_link *link = &pg->link;
    struct rows_lease lease;
    int error = worker_error(pg, worker_renew(pg, &lease));
    bool none;

    *all = false;
    if (error == ERROR_LOST) {
        pg_lose(pg);
    }
    if (error) {
        return error;
    }
    ownership_set_lease(&pg->ownership, &lease, asked_at);
    // After taking the lease again, matching numbers would be those of another process.
    none = !link->taken_again && lease.seq == link->seq && lease.history == link->history;
    *all = !link->taken_again && added > 0 && lease.seq == link->seq + added &&
           lease.history == link->packing.history;
    if (!none && !*all) {
        pg_note_loss(pg, &lease, link->seq);
        return ERROR_GONE;
    }
    pg_claim(pg, asked_at);
    pg->link.doubt = false;
    return 0;
}

// Whether standbys are to be woken by the next rows.
static bool worker_wakes_standbys(struct pg *pg, nsec_t now_at)
{
    bool due = now_at - pg->link.told_at >= TELL_EVERY_FOR;

    pg->link.told_at = due ? now_at : pg->link.told_at;
    return due;
}

static int worker_add_rows(struct pg *pg)
{
    nsec_t asked_at = pg->settings.boot();
    const struct packing *packing = &pg->link.packing;
    const struct rows_append append = {.known = pg_known(pg),
                                       .history = packing->history,
                                       .rows = packing->rows,
                                       .count = packing->count,
                                       .tell = worker_wakes_standbys(pg, asked_at)};
    int error = worker_error(pg, pg_ops(pg)->append(pg->settings.rows, &append));

    if (error == 0) {
        pg_claim(pg, asked_at);
    }
    // Even if nothing was changed: another server of the database may have taken over, without some
    // rows.
    pg->link.doubt = error != 0;
    pg->link.kept_from = error != 0 && error != ERROR_LOST;
    return error;
}

static int worker_write_rows(struct pg *pg)
{
    uint64_t count = pg->link.packing.count;
    bool all = false;
    int error = 0;

    if (!pg->link.doubt) {
        error = worker_add_rows(pg);
    }
    // The refusal may mean that the lease is lost, or that rows are.
    if (error == ERROR_LOST || (error == 0 && pg->link.doubt)) {
        error = worker_settle(pg, count, &all);
        if (error == 0 && !all) {
            error = worker_add_rows(pg);
        }
    }
    if (error == 0) {
        pg->link.kept_from = false;
        pg_note_back(pg);
        pg->link.seq += count;
        pg->link.history = pg->link.packing.history;
        ownership_set_seq(&pg->ownership, pg->link.seq);
    }
    return error;
}

static void worker_run_write(struct pg *pg, struct task *task)
{
    nsec_t began_at = pg->settings.boot();

    if (!packing_pack(&pg->link.packing, task->batch, pg->link.seq + 1)) {
        task->error = ENOMEM;
        task->failed = "write";
        return;
    }
    task->error = worker_write_rows(pg);
    task->failed = task->error ? "commit" : NULL;
    if (task->error == 0) {
        packing_written(task->batch);
        task->syncs = 1;
        task->synced_for = pg->settings.boot() - began_at;
    }
}

// A doubt is resolved when the batch is given again.
static int worker_claim(struct pg *pg)
{
    nsec_t asked_at = pg->settings.boot();
    struct rows_lease lease;
    int error = worker_error(pg, worker_renew(pg, &lease));

    if (error == 0) {
        pg_claim(pg, asked_at);
    } else if (error == ERROR_LOST) {
        pg_lose(pg);
    }
    return error;
}

static void worker_run_renew(struct pg *pg, struct task *task)
{
    bool all;

    task->error = pg->link.doubt ? worker_claim(pg) : worker_settle(pg, 0, &all);
    task->failed = task->error ? "renew" : NULL;
    if (task->error == 0) {
        pg_report(pg, pg->link.seq, true);
    }
}

// If a standby reads the unit, the database is not away. A renewal shows whether it is.
static int worker_remove_units(struct pg *pg, uint64_t unit)
{
    const struct rows_known known = pg_known(pg);
    enum rows_outcome outcome;
    bool all;
    int error;

    // There may be more rows than are known.
    if (pg->link.doubt) {
        return ERROR_AWAY;
    }
    outcome = pg_ops(pg)->remove(pg->settings.rows, &known, unit);
    if (outcome == ROWS_DOUBT || outcome == ROWS_LOST) {
        error = worker_settle(pg, 0, &all);
        return error ? error : ERROR_AWAY;
    }
    return outcome == ROWS_AWAY ? ERROR_AWAY : worker_error(pg, outcome);
}

static void worker_run_remove(struct pg *pg, struct task *task)
{
    task->error = worker_remove_units(pg, task->segment->number);
    task->failed = task->error ? "remove" : NULL;
}

static void worker_run_task(const void *self, struct task *task)
{
    struct pg *pg = container_of((struct storage *)(uintptr_t)self, struct pg, storage);

    task->error = 0;
    task->syncs = 0;
    task->synced_for = 0;
    task->failed = NULL;
    task->bad = NULL;
    switch (task->kind) {
    case TASK_WRITE:
        worker_run_write(pg, task);
        return;
    case TASK_RENEW_LEASE:
        worker_run_renew(pg, task);
        return;
    case TASK_REMOVE:
        worker_run_remove(pg, task);
        return;
    case TASK_SYNC:
        // Everything that was written is committed.
        return;
    case TASK_PREPARE:
    case TASK_RESIZE:
    case TASK_FREE_SPACE:
    case TASK_MANIFEST:
        break;
    }
    UNREACHABLE();
}

struct task_runner journal_pg_runner(struct storage *storage)
{
    return (struct task_runner){.self = storage, .run = worker_run_task};
}
