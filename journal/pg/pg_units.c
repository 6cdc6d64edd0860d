/* SPDX-License-Identifier: MIT */

// Units as segments, and the tables that they use. A unit is in the table of its number modulo
// ROWS_UNITS_MAX. Numbers are consecutive, except for multiples of that which pg_rewrite() passes
// over; so the tables in use are consecutive, too.

#include "core/base/hash.h"
#include "core/base/log.h"
#include "journal/pg/pg_private.h"

uint64_t pg_draw_salt(struct journal *journal)
{
    return hash_mix(journal->settings.secret + pg_of(journal)->salts++);
}

static void pg_begin_unit(struct journal *journal, struct segment *next)
{
    const struct pg *pg = pg_of(journal);

    next->owner = pg->owner;
    next->history = (uint32_t)pg->history;
    next->rewrite_from =
        segments_need_rewrite(&journal->segments) ? journal->segments.rewrite_from : 0;
    segments_begin(&journal->segments, next, journal->ids.asked,
                   (uint64_t)(broker_now(journal->broker).wall / NSEC_PER_MSEC));
}

void pg_follow(struct journal *journal, struct segment *next)
{
    pg_begin_unit(journal, next);
}

bool pg_make_spare(struct journal *journal)
{
    struct pg *pg = pg_of(journal);

    if (!pg->spare) {
        pg->spare = segment_new(0, pg_draw_salt(journal));
    }
    return pg->spare && segment_make_room(pg->spare);
}

struct segment *pg_take_spare(struct journal *journal)
{
    struct segment *spare = pg_of(journal)->spare;

    pg_of(journal)->spare = NULL;
    spare->size = PG_UNIT_SIZE;
    return spare;
}

static uint64_t pg_tables(uint64_t oldest, uint64_t youngest)
{
    return youngest < oldest ? 0 : (youngest - oldest) % ROWS_UNITS_MAX + 1;
}

uint64_t pg_units(const struct journal *journal)
{
    const struct segment_list *segments = &journal->segments.list;

    return segments->count
               ? pg_tables(pg_of(journal)->oldest, segments->first + segments->count - 1)
               : 0;
}

//
// Rewriting after a loss of rows
//

static uint64_t pg_youngest(const struct journal *journal)
{
    const struct segment_list *segments = &journal->segments.list;

    return segments->count ? segments->first + segments->count - 1 : 0;
}

// A number that no unit ever had, here or in the database, and whose table is the one after those
// in use.
static uint64_t pg_rewrite_number(const struct journal *journal)
{
    uint64_t number = pg_of(journal)->link.found.unit + 1;
    uint64_t last = pg_youngest(journal);

    if (number <= last) {
        number += (last + 1 - number + ROWS_UNITS_MAX - 1) / ROWS_UNITS_MAX * ROWS_UNITS_MAX;
    }
    return number;
}

static bool pg_make_passed(struct pg *pg, uint64_t count)
{
    ENSURE(count < ROWS_UNITS_MAX);
    for (uint64_t i = 0; i < count; i++) {
        pg->passed[i] = pg->passed[i] ? pg->passed[i] : segment_new(0, 0);
        if (!pg->passed[i]) {
            return false;
        }
    }
    return true;
}

bool pg_can_rewrite(struct journal *journal)
{
    struct pg *pg = pg_of(journal);
    const struct rows_lease *found = &pg->link.found;
    struct segment_list *segments = &journal->segments.list;
    uint64_t last = pg_youngest(journal);
    uint64_t passed = last > 0 ? pg_rewrite_number(journal) - last - 1 : 0;

    // Or the database has units of another process that has come much further and is unknown here.
    if (pg_tables(found->oldest, found->unit) == ROWS_UNITS_MAX || passed >= ROWS_UNITS_MAX) {
        log_error("database_full", log_string("shard", pg->settings.shard),
                  log_string("note",
                             "no table is free for rewriting: content that only this process "
                             "has is lost"));
        pg_lose(pg);
        return false;
    }
    while ((size_t)(segments->items - segments->base) + segments->count + passed + 2 >=
           segments->capacity) {
        if (!segment_list_grow(segments)) {
            return false;
        }
    }
    return pg_make_passed(pg, passed);
}

static void pg_add_passed(struct journal *journal, uint64_t count)
{
    struct pg *pg = pg_of(journal);

    for (uint64_t i = 0; i < count; i++) {
        pg->passed[i]->number = pg_youngest(journal) + 1;
        segment_set_state(pg->passed[i], SEGMENT_PUBLISHED);
        segment_list_add(&journal->segments.list, pg->passed[i]);
        pg->passed[i] = NULL;
    }
}

// Units that were to be removed are removed with the others.
void pg_rewrite(struct journal *journal, struct segment *next)
{
    struct pg *pg = pg_of(journal);
    struct pg_link *link = &pg->link;
    uint64_t number = pg_rewrite_number(journal);
    uint64_t last = pg_youngest(journal);

    // Records that wait are moved to the next unit, whichever they were for.
    for (size_t i = 0; i < journal->segments.list.count; i++) {
        struct segment *segment = journal->segments.list.items[i];

        if (!segment_is_published(segment)) {
            segment_set_state(segment, SEGMENT_PUBLISHED);
        }
    }
    if (last > 0) {
        pg_add_passed(journal, number - last - 1);
    }
    segment_free(journal->segments.removing);
    journal->segments.removing = NULL;
    journal->compaction = (struct compaction){0};
    pg->oldest = link->found.oldest;
    pg->history = (link->found.history > pg->history ? link->found.history : pg->history) + 1;
    link->seq = link->found.seq;
    link->history = link->found.history;
    link->rows_lost = false;
    link->taken_again = false;
    link->doubt = false;
    journal->segments.rewrite_from = number;
    next->salt = pg_draw_salt(journal);
    next->size = PG_UNIT_SIZE;
    pg_begin_unit(journal, next);
    ENSURE(last == 0 || next->number == number);
}
