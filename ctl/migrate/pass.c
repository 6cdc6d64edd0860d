/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/pass.h"

#include "ctl/print/signals.h"
#include "ctl/migrate/lease.h"
#include "ctl/migrate/left.h"
#include "ctl/migrate/settle.h"
#include "ctl/migrate/tandem.h"
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

//
// Out of a Tandem
//

// Jobs of a batch, and bytes: with what JSON adds, a request is smaller than admin.max_body is by
// default.
#define ASKED_JOBS 500
#define ASKED_BYTES ((uint64_t)256 << 10)

// Jobs of queues whose names no tube can have stay, and so does what the target does not take.
static void open_lines(struct migration *migration)
{
    struct load *batch = &migration->batch;

    tubes_free(migration->tubes);
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (!tandem_open_line(migration, item)) {
            left_note(migration, item->from, LEFT_NAME, item->kind);
            item->from = 0;
        } else if (item->body_len > migration->takes_most) {
            left_note(migration, item->from, LEFT_LARGE, item->kind);
            item->from = 0;
        }
    }
    load_pack(batch);
}

static bool move_asked(struct migration *migration, const uint64_t *ids, size_t count)
{
    if (!tandem_fetch(migration, ids, count)) {
        return false;
    }
    if (migration->target) {
        open_lines(migration);
    }
    return migration->batch.count == 0 || settle_batch(migration);
}

static void count_listed(struct migration *migration, const struct listing *listing)
{
    struct tubes *tubes = migration->tubes;

    tubes_free(tubes);
    migration->held = 0;
    migration->foreground = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const struct listed *job = &listing->jobs[i];

        migration->held += job->state == 'h';
        migration->foreground += job->state != 'h' && !job->durable;
        tubes->ready += job->durable && job->state == 'r';
        tubes->delayed += job->durable && job->state == 'd';
        tubes->buried += job->durable && job->state == 'b';
    }
}

static bool move_listed(struct migration *migration, const struct listing *listing)
{
    uint64_t ids[ASKED_JOBS];
    size_t count = 0;
    uint64_t bytes = 0;

    for (size_t i = 0; i < listing->count; i++) {
        const struct listed *job = &listing->jobs[i];

        if (job->state == 'h' || !job->durable || left_has(migration, job->id) ||
            (job->state == 'b' && migration->target && !migration->buries)) {
            continue;
        }
        if (count == ASKED_JOBS || (count > 0 && bytes + job->size > ASKED_BYTES)) {
            if (!move_asked(migration, ids, count)) {
                return false;
            }
            if (!goes_on(migration)) {
                return true;
            }
            count = 0;
            bytes = 0;
        }
        ids[count++] = job->id;
        bytes += job->size;
    }
    return count == 0 || move_asked(migration, ids, count);
}

static bool pass_of_tandem(struct migration *migration)
{
    struct listing listing = {0};
    bool good = tandem_list(migration, &listing);

    if (good) {
        count_listed(migration, &listing);
        migration->total = migration->moved_before + migration->tubes->ready +
                           migration->tubes->delayed + migration->tubes->buried;
        good = move_listed(migration, &listing);
    }
    listing_free(&listing);
    return good;
}

//
// All
//

static bool ask_tubes(struct migration *migration)
{
    const struct tubes *tubes = migration->tubes;

    if (!tubes_ask(migration)) {
        return false;
    }
    migration->held =
        tubes->reserved > migration->left_held ? tubes->reserved - migration->left_held : 0;
    return true;
}

bool pass_run(struct migration *migration)
{
    migration->moved_before = migration->tally.moved;
    if (migration->source_api) {
        return pass_of_tandem(migration);
    }
    if (!ask_tubes(migration)) {
        return false;
    }
    migration->total = migration->moved_before + migration->tubes->ready +
                       migration->tubes->delayed + migration->tubes->buried;
    return move_ready(migration) && move_walked(migration, walk_delayed) &&
           (!migration->buries || move_walked(migration, walk_buried));
}

bool pass_count(struct migration *migration)
{
    struct listing listing = {0};
    bool good;

    if (!migration->source_api) {
        return ask_tubes(migration);
    }
    good = tandem_list(migration, &listing);
    if (good) {
        count_listed(migration, &listing);
    }
    listing_free(&listing);
    return good;
}
