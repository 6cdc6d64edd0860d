/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/pass.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/bean_source.h"
#include "ctl/migrate/identity.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tandem.h"
#include "ctl/migrate/target.h"
#include "ctl/migrate/tubes.h"
#include "ctl/print/ctl_signals.h"

void migrate_count_batch(struct migration *migration)
{
    const struct job_batch *batch = &migration->batch;
    struct migration_counts *tally = &migration->counts;

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

// The next batch should have about BATCH_BYTES_GOOD, and be moved before its leases end; otherwise
// its jobs would be reserved and lost repeatedly.
static void pass_adapt_batch_size(struct migration *migration, bool lost)
{
    size_t most = migration->source_body_max
                      ? (size_t)(BATCH_BYTES_MAX / migration->source_body_max)
                      : BATCH_JOBS_MAX;

    most = most > BATCH_JOBS_MAX ? BATCH_JOBS_MAX : most > 0 ? most : 1;
    if (lost || migration->batch.bodies.len > BATCH_BYTES_GOOD) {
        migration->want = migration->want > 1 ? migration->want / 2 : 1;
    } else {
        migration->want = migration->want * 4 < most ? migration->want * 4 : most;
    }
}

static bool pass_put_batch(struct migration *migration, bool *refused)
{
    return migration->target_api ? tandem_import(migration, refused)
                                 : target_put(migration, refused);
}

bool migrate_delete_originals(struct migration *migration)
{
    return migration->source_api ? tandem_delete(migration) : source_delete_originals(migration);
}

bool migrate_release_copies(struct migration *migration)
{
    if (migration->target_api) {
        return tandem_take_back(migration) && tandem_confirm(migration);
    }
    return target_take_back(migration) && target_begin(migration);
}

static bool migrate_batch(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;
    uint64_t lost = migration->counts.lost;
    bool refused;

    if (!migration->source_api) {
        identity_note(migration);
    }
    if (!state_intend(migration->state, batch) || !source_extend_leases(migration) ||
        !pass_put_batch(migration, &refused) || !state_acknowledge(migration->state, batch) ||
        (migration->target && !target_bury(migration)) || !migrate_delete_originals(migration) ||
        !migrate_release_copies(migration)) {
        return false;
    }
    migrate_count_batch(migration);
    pass_adapt_batch_size(migration, migration->counts.lost > lost);
    job_batch_clear(batch);
    return state_done(migration->state, &migration->counts) && report_progress(migration) &&
           !refused;
}

// Whether to continue after a batch.
static bool pass_continues(struct migration *migration)
{
    migration->stopped = migration->stopped || signals_stopped(NULL);
    return !migration->stopped;
}

static bool pass_move_ready(struct migration *migration)
{
    size_t next = 0;

    do {
        if (!source_reserve_ready(migration, &next)) {
            return false;
        }
        if (migration->batch.count == 0) {
            return true;
        }
        if (!migrate_batch(migration)) {
            return false;
        }
    } while (pass_continues(migration));
    return true;
}

static bool pass_move_peeked(struct migration *migration, bool (*walk)(struct migration *migration))
{
    while (pass_continues(migration)) {
        if (!walk(migration)) {
            return false;
        }
        if (migration->batch.count == 0) {
            return true;
        }
        if (!migrate_batch(migration)) {
            return false;
        }
    }
    return true;
}

//
// From a Tandem
//

// The maximum of a batch in jobs and bytes: with the size of the JSON, a request is smaller than
// the default of admin.max_body.
#define FETCH_JOBS_MAX 500
#define FETCH_BYTES_MAX ((uint64_t)256 << 10)

// Jobs stay if the name of their queue is not valid for a tube, or if they are too large.
static void pass_open_lines(struct migration *migration)
{
    struct job_batch *batch = &migration->batch;

    tubes_free(migration->tubes);
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (!tandem_open_line(migration, item)) {
            unmoved_note(migration, item->from, UNMOVED_NAME, item->kind);
            item->from = 0;
        } else if (item->body_len > migration->target_body_max) {
            unmoved_note(migration, item->from, UNMOVED_LARGE, item->kind);
            item->from = 0;
        }
    }
    job_batch_pack(batch);
}

static bool pass_move_ids(struct migration *migration, const uint64_t *ids, size_t count)
{
    if (!tandem_fetch(migration, ids, count)) {
        return false;
    }
    if (migration->target) {
        pass_open_lines(migration);
    }
    return migration->batch.count == 0 || migrate_batch(migration);
}

static void pass_count_listing(struct migration *migration, const struct listing *listing)
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

static bool pass_move_listing(struct migration *migration, const struct listing *listing)
{
    uint64_t ids[FETCH_JOBS_MAX];
    size_t count = 0;
    uint64_t bytes = 0;

    for (size_t i = 0; i < listing->count; i++) {
        const struct listed *job = &listing->jobs[i];

        if (job->state == 'h' || !job->durable || unmoved_has(migration, job->id) ||
            (job->state == 'b' && migration->target && !migration->buries)) {
            continue;
        }
        if (count == FETCH_JOBS_MAX || (count > 0 && bytes + job->size > FETCH_BYTES_MAX)) {
            if (!pass_move_ids(migration, ids, count)) {
                return false;
            }
            if (!pass_continues(migration)) {
                return true;
            }
            count = 0;
            bytes = 0;
        }
        ids[count++] = job->id;
        bytes += job->size;
    }
    return count == 0 || pass_move_ids(migration, ids, count);
}

static bool pass_from_tandem(struct migration *migration)
{
    struct listing listing = {0};
    bool good = tandem_list(migration, &listing);

    if (good) {
        pass_count_listing(migration, &listing);
        migration->total = migration->moved_before + migration->tubes->ready +
                           migration->tubes->delayed + migration->tubes->buried;
        good = pass_move_listing(migration, &listing);
    }
    listing_free(&listing);
    return good;
}

//
// A pass
//

static bool pass_ask_tubes(struct migration *migration)
{
    const struct tubes *tubes = migration->tubes;

    if (!tubes_ask(migration)) {
        return false;
    }
    migration->held =
        tubes->reserved > migration->unmoved_held ? tubes->reserved - migration->unmoved_held : 0;
    return true;
}

bool pass_run(struct migration *migration)
{
    migration->moved_before = migration->counts.moved;
    if (migration->source_api) {
        return pass_from_tandem(migration);
    }
    if (!pass_ask_tubes(migration)) {
        return false;
    }
    migration->total = migration->moved_before + migration->tubes->ready +
                       migration->tubes->delayed + migration->tubes->buried;
    return pass_move_ready(migration) && pass_move_peeked(migration, source_peek_delayed) &&
           (!migration->buries || pass_move_peeked(migration, source_peek_buried));
}

bool pass_count(struct migration *migration)
{
    struct listing listing = {0};
    bool good;

    if (!migration->source_api) {
        return pass_ask_tubes(migration);
    }
    good = tandem_list(migration, &listing);
    if (good) {
        pass_count_listing(migration, &listing);
    }
    listing_free(&listing);
    return good;
}
