/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_PG_PRIVATE_H
#define TANDEM_JOURNAL_PG_PG_PRIVATE_H

// Private to journal/pg: a storage in rows of a database.
//
// Two threads share it. `link` is what the worker thread knows of the rows (pg_worker.c, follow.c);
// no other thread touches it while the worker thread has a task or opens the journal. Any thread
// may read `fence` and `ownership`.

#include "core/base/fence.h"
#include "journal/journal_private.h"
#include "journal/pg/journal_rows.h"
#include "journal/pg/packing.h"
#include "journal/pg/pg.h"

#include <errno.h>
#include <pthread.h>

// From UNITS_MOST units on, compaction reduces their number. An owner begins no further unit from
// UNITS_FULL on; a process that starts continues the youngest unit from UNITS_FULL_AT_START on. The
// rest is for units that begin because rows are lost.
enum { UNITS_MOST = ROWS_UNITS_MAX * 3 / 4, UNITS_FULL = ROWS_UNITS_MAX - 12 };
enum { UNITS_FULL_AT_START = ROWS_UNITS_MAX - 8 };

// The errors of tasks.
enum {
    ERROR_AWAY = ENOTCONN, // the database cannot be reached, or does not answer
    ERROR_REFUSED = EPERM, // the database refuses
    ERROR_LOST = ESTALE,   // another process has the lease
    ERROR_GONE = ENODATA   // rows that were there are lost
};

// What the worker thread knows of the rows.
struct pg_link {
    uint64_t epoch;          // of the lease; 0: this process has it not
    uint64_t seq;            // of the last row that is known to exist
    uint64_t history;        // of the lease
    bool doubt;              // a row that is not counted may have been added
    bool taken_again;        // the database had lost the taking of the lease and all later commits
    bool rows_lost;          // rows are lost: their content is to be written again
    struct rows_lease found; // ... the lease without them
    nsec_t told_at;          // when standbys were woken last, by the boot-time clock
    nsec_t judged_at; // when the database's settings were read last, by the same clock; 0: never
    bool away;        // it was logged that the database cannot be reached
    bool kept_from;   // the last rows could not be added, even if other calls have succeeded since
    bool unreported;  // it was logged that the database refuses this member's report
    struct packing packing;
};

struct ownership {
    pthread_mutex_t mutex;
    struct ownership_snapshot now;
};

struct pg {
    struct storage storage;
    struct pg_settings settings;
    struct fence fence;
    struct ownership ownership;
    struct ownership_snapshot shown; // a buffer of the worker thread: it is large
    struct pg_link link;
    struct segment *spare; // the next segment; NULL: there was no memory for it
    uint64_t salts;        // number of salts drawn
    nsec_t renewed_at;     // when renewing the lease was asked for, by the broker's monotonic clock
    uint64_t owner;        // the number of this process in heads of units
    uint64_t history;      // of units that begin
    uint64_t oldest;       // the first unit in the database
    nsec_t remove_at;      // no unit is removed before
    unsigned remove_tries; // that failed
    struct segment *passed[ROWS_UNITS_MAX]; // for numbers that are passed over; NULL after the last
};

static inline struct pg *pg_of(const struct journal *journal)
{
    return container_of(journal->storage, struct pg, storage);
}

static inline const struct journal_rows_ops *pg_ops(const struct pg *pg)
{
    return pg->settings.rows->ops;
}

//
// Units as segments (pg_units.c)
//

// No unit is ever full.
#define PG_UNIT_SIZE (UINT64_MAX / 4)

uint64_t pg_draw_salt(struct journal *journal);
// Makes `next` the current segment. There is room for it in the list.
void pg_follow(struct journal *journal, struct segment *next);
// Number of tables of units in use.
uint64_t pg_units(const struct journal *journal);
// Rows are lost, and the database has what `link.found` says: prepares for pg_rewrite(). False
// without memory, or without a table for another unit: the lease is given up then.
bool pg_can_rewrite(struct journal *journal);
// Makes `next` the current segment, to which all live content is written again from memory.
void pg_rewrite(struct journal *journal, struct segment *next);
// Makes sure that there is a spare segment. False without memory.
bool pg_make_spare(struct journal *journal);
struct segment *pg_take_spare(struct journal *journal);

//
// Ownership, and how other processes know of it (ownership.c)
//

void ownership_init(struct ownership *ownership);
void ownership_clear(struct ownership *ownership);
void ownership_set_role(struct ownership *ownership, enum ownership_role role);
void ownership_set_lease(struct ownership *ownership, const struct rows_lease *lease, nsec_t at);
void ownership_set_seq(struct ownership *ownership, uint64_t seq);
void ownership_read(struct ownership *ownership, struct ownership_snapshot *snapshot);
enum ownership_role ownership_role(struct ownership *ownership);

// The lease as it is known to be.
static inline struct rows_known pg_known(const struct pg *pg)
{
    return (struct rows_known){
        .epoch = pg->link.epoch, .seq = pg->link.seq, .history = pg->link.history};
}
// This process has the lease, from the moment on when it was asked for.
void pg_claim(struct pg *pg, nsec_t asked_at);
// Another process has it.
void pg_lose(struct pg *pg);
// Notes that rows are lost.
void pg_note_loss(struct pg *pg, const struct rows_lease *found, uint64_t expected);
// The database cannot be reached, must not be used, or can be used again: logged once.
void pg_note_away(struct pg *pg);
void pg_note_unfit(struct pg *pg, const char *why);
void pg_note_back(struct pg *pg);
// Reports the state of this process, and reads that of the others and, from time to time, the
// settings of the database.
void pg_report(struct pg *pg, uint64_t seq, bool owner);
// Reads the settings. False if they guarantee less than the operator demands.
bool pg_judge(struct pg *pg, char *why, size_t size);
// Whether they are known, if the operator demands something of them.
bool pg_is_judged(const struct pg *pg);

//
// Opening and closing (standby.c): storage_ops of the same names
//

bool pg_open(struct journal *journal, struct restored *restored, struct error_text *why) MUST_USE;
bool pg_begin(struct journal *journal, struct error_text *why) MUST_USE;
bool pg_tidy(struct journal *journal) MUST_USE;
void pg_let_go(struct journal *journal);

#endif
