/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_PG_FAKE_ROWS_H
#define TANDEM_TESTS_JOURNAL_PG_FAKE_ROWS_H

// A database in memory with a journal's rows (journal/pg/journal_rows.h), a clock that the test
// sets, and its users. Each user has its own connection, which can fail.

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
// A copy of the database: rows, lease and the number of removed units. fake_db_free() frees it.
struct fake_db *fake_db_copy(const struct fake_db *db);
// Another server of the database takes over, with the content of the copy. The clock goes on.
void fake_db_restore(struct fake_db *db, const struct fake_db *copy);
void fake_db_free(struct fake_db *db);
// How many rows a unit has.
size_t fake_db_rows_of(const struct fake_db *db, uint64_t unit);
// Another server of the database takes over, without the last rows. The lease stays, except for its
// sums over the rows.
void fake_db_lose_rows(struct fake_db *db, size_t count);

// The outcome of a call that changes something.
enum fake_fate {
    FATE_NORMAL,
    FATE_AWAY,    // it does not reach the database
    FATE_DONE,    // it is executed, and the answer is lost: in doubt
    FATE_UNDONE,  // in doubt, too, but it was never executed
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
    bool careless;       // the durability of a commit cannot be read
    bool unreplicated;   // no standby of the database is waited for
    bool unsynced;       // nor its disk
    unsigned calls;      // that changed something, or were to
    unsigned fate_at;    // of these, this one, counted from 1 ...
    unsigned fate_until; // ... to this one
    enum fake_fate fate; // ... ends like that
    bool stopped;
    unsigned tellings; // appends that woke others
    uint64_t used_ms;  // `since_ms` of the lease that this one has taken, or added to, last
    // Called when it waits, before it reads a unit, and before it changes something. NULL: time
    // passes.
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
