/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_PG_FAKE_ROWS_H
#define TANDEM_TESTS_JOURNAL_PG_FAKE_ROWS_H

// A database in memory that keeps a journal's rows (journal/pg/rows.h), with a clock that the test
// sets, and those who use it. Each has a connection of its own, on which things go wrong.

#include "journal/pg/journal_rows.h"

struct fake_row {
    uint64_t unit, seq, epoch;
    char *bytes;
    size_t len;
};

struct fake_db {
    nsec_t now; // by the database's clock
    struct fake_row *rows;
    size_t count;
    struct rows_lease lease; // but for `left_for`
    nsec_t expires_at;
    size_t most_units; // that were there at a time
    unsigned calls;    // that changed something, or were to, by whomever
};

struct fake_db *fake_db_new(void);
// The database as it is now: rows, lease and what was removed. fake_db_free() frees it.
struct fake_db *fake_db_copy(const struct fake_db *db);
// Another server of the database takes over that is as the copy was made. Its clock goes on.
void fake_db_restore(struct fake_db *db, const struct fake_db *copy);
void fake_db_free(struct fake_db *db);
// How many rows a unit has.
size_t fake_db_rows_of(const struct fake_db *db, uint64_t unit);
// Another server of the database takes over that lacks the last rows; the lease is as it was, but
// for what it sums up.
void fake_db_lose_rows(struct fake_db *db, size_t count);

// What becomes of a call that changes something.
enum fake_fate {
    FATE_NORMAL,
    FATE_AWAY,    // it does not reach the database
    FATE_DONE,    // it does, and the answer does not come back: in doubt
    FATE_UNDONE,  // in doubt, too, but it has never come about
    FATE_STOPPED, // stop() was called meanwhile
    FATE_REFUSED, // the database says no
    FATE_LOST     // another has taken the lease before
};

struct fake_rows {
    struct journal_rows rows;
    struct fake_db *db;
    const char *holder;
    nsec_t ttl_for;
    bool cut;            // nothing reaches the database
    bool unremovable;    // another process reads the unit to be removed
    bool unaddable;      // it has no right to add
    bool unreadable;     // it has no right to
    bool unlookable;     // nor to see the lease
    bool careless;       // what a commit is worth is not to be had
    bool unreplicated;   // no standby of the database is waited for
    bool unsynced;       // nor its disk
    unsigned calls;      // that changed something, or were to
    unsigned fate_at;    // of these, this one, counted from 1 ...
    unsigned fate_until; // ... to this one
    enum fake_fate fate; // ... ends like that
    bool stopped;
    unsigned tellings; // appends that woke others
    uint64_t used_ms;  // `since_ms` of the lease that this one has taken, or added to, last
    // Called where it waits, before it reads a unit, and before it changes something. May be NULL:
    // time passes then.
    void (*waits)(void *context, nsec_t for_at_most);
    void (*reads)(void *context, uint64_t unit);
    void (*changes)(void *context);
    void *context;
};

// Freed by rows->ops->free.
struct fake_rows *fake_rows_new(struct fake_db *db, const char *holder, nsec_t ttl_for);
// The next `count` calls that change something end like that.
void fake_rows_set_fate(struct fake_rows *rows, enum fake_fate fate, unsigned count);

#endif
