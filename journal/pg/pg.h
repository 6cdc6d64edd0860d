/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_PG_H
#define TANDEM_JOURNAL_PG_PG_H

// Private to journal/pg: a journal that is kept in rows of a database, and followed by those who do
// not own it.
//
// Two threads share it. What the worker thread does with the database (run.c, follow.c) is under
// `link`; nobody else touches that while the worker thread has a task, or opens the journal. What
// others may look at any time is in `fence` and `outlook`.

#include "core/base/fence.h"
#include "journal/journal_private.h"
#include "journal/pg/outlook.h"
#include "journal/pg/packing.h"
#include "journal/pg/rows.h"
#include "journal/pg/store.h"

#include <errno.h>

// From how many units on compaction makes fewer; how many may be there for an owner to begin
// another, and for a process that starts, which goes on with the youngest otherwise. What is left
// is for units that are begun because rows are gone.
enum { UNITS_MOST = ROWS_UNITS_MAX * 3 / 4, UNITS_FULL = ROWS_UNITS_MAX - 12 };
enum { UNITS_FULL_AT_START = ROWS_UNITS_MAX - 8 };

// What the errors of tasks mean here.
enum {
    ERROR_AWAY = ENOTCONN, // the database cannot be reached, or does not answer
    ERROR_REFUSED = EPERM, // it says no
    ERROR_LOST = ESTALE,   // the lease is another's
    ERROR_GONE = ENODATA   // rows that were there are there no more
};

// What the worker thread knows of the rows.
struct pg_link {
    uint64_t epoch;   // of the lease; 0: it is not ours
    uint64_t seq;     // of the last row that is known to be there
    uint64_t history; // of the lease
    bool doubt;       // something may have been added that is not counted
    bool taken_again; // the database had lost that the lease was taken, and all that came then
    bool rows_lost;   // rows that were there are gone: what they had is to be written anew
    struct rows_lease found; // ... as it is without them
    nsec_t told_at;          // when followers were woken last, by the boot-time clock
    nsec_t judged_at; // when the database's settings were looked at last, by the same; 0: never
    bool away;        // that it cannot be reached is logged
    bool kept_from;   // the last rows could not be added, whatever else it has answered since
    bool unreported;  // that it refuses a member's report is
    struct packing packing;
};

struct pg {
    struct storage storage;
    struct pg_settings settings;
    struct fence fence;
    struct outlook outlook;
    struct outlook_shown shown; // for the worker thread to look at: it is large
    struct pg_link link;
    struct segment *spare; // the next segment; NULL: there is no memory for one
    uint64_t salts;        // how many were drawn
    nsec_t renewed_at;     // when the claim was asked for last, by the broker's monotonic clock
    uint64_t owner;        // what heads of units call this process
    uint64_t history;      // of the units that are begun
    uint64_t oldest;       // the first unit in the database
    nsec_t remove_at;      // no unit is removed before
    unsigned remove_tries; // in vain
    struct segment
        *passed[ROWS_UNITS_MAX]; // for numbers that are passed over; NULL behind the last
};

static inline struct pg *pg_of(const struct journal *journal)
{
    return container_of(journal->storage, struct pg, storage);
}

static inline const struct rows_ops *pg_ops(const struct pg *pg)
{
    return pg->settings.rows->ops;
}

// No unit is ever full.
#define PG_UNIT_SIZE (UINT64_MAX / 4)

uint64_t pg_draw_salt(struct journal *journal);
// Makes `next` the current segment. The row has space for it.
void pg_follow(struct journal *journal, struct segment *next);
// How many tables of units are in use.
uint64_t pg_units(const struct journal *journal);
// Rows are gone, and the database has what `link.found` says: sees to it that pg_renew() can be
// called. False without memory, or where there is no table left for another unit: the lease is
// given up then.
bool pg_can_renew(struct journal *journal);
// Makes `next` the current segment, to which all that lives is written again, from memory.
void pg_renew(struct journal *journal, struct segment *next);
// Sees to a spare segment. False without memory.
bool pg_make_spare(struct journal *journal);
// Takes it.
struct segment *pg_take_spare(struct journal *journal);

// The lease as it is known to be.
static inline struct rows_known pg_known(const struct pg *pg)
{
    return (struct rows_known){
        .epoch = pg->link.epoch, .seq = pg->link.seq, .history = pg->link.history};
}
// Notes that rows are gone which were there.
void pg_note_loss(struct pg *pg, const struct rows_lease *found, uint64_t expected);

// The lease is ours from when it was asked for on.
void pg_claim(struct pg *pg, nsec_t asked_at);
// It is another's.
void pg_lose(struct pg *pg);
// The database could not be reached, or could again: says so in the log, once.
void pg_note_away(struct pg *pg);
// The same where it is there, and must not be used.
void pg_note_unfit(struct pg *pg, const char *why);
void pg_note_back(struct pg *pg);
// Says how this process stands, and looks how others do; and now and then how the database is set.
void pg_report(struct pg *pg, uint64_t seq, bool owner);
// The same for the settings alone. False where they are worth less than the operator demands.
bool pg_judge(struct pg *pg, char *why, size_t size);
// Whether they are known, where the operator demands something of them.
bool pg_is_judged(const struct pg *pg);

//
// storage_ops of the same names (open.c)
//

bool pg_open(struct journal *journal, struct restored *restored, struct error_text *why) MUST_USE;
bool pg_begin(struct journal *journal, struct error_text *why) MUST_USE;
bool pg_tidy(struct journal *journal) MUST_USE;
void pg_let_go(struct journal *journal);

#endif
