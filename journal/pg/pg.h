/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_PG_H
#define TANDEM_JOURNAL_PG_PG_H

// A journal in rows of a database (journal_rows.h), which several processes may share: one of them
// owns it, by a lease, and the others, the standbys, follow. journal_open() returns when this
// process has become the owner. Until then, perhaps for days, it follows, and its broker has all
// jobs but those of the last moment.

#include "core/base/fence.h"
#include "core/base/macros.h"
#include "core/broker.h"
#include "journal/pg/journal_rows.h"
#include "journal/worker.h"

struct storage;

enum pg_demand {
    PG_DEMAND_NOTHING, // any durability of commits is accepted
    PG_DEMAND_WARN,    // commits that wait for no standby of the database are logged
    PG_DEMAND_QUORUM   // ... and the journal is not opened
};

struct pg_settings {
    struct journal_rows *rows; // owned; set before the journal is opened (journal_pg_use())
    const char *node;          // this process; unique
    const char *address;       // by which other processes reach it
    const char *shard;         //
    nsec_t ttl_for;            // of the lease
    bool takes;                // take the lease when it is free; false: only follow
    bool yields;               // let other processes take it first
    bool again;                // not the first opening: if the database refuses, wait
    enum pg_demand demand;
    nsec_t (*boot)(void);          // CLOCK_BOOTTIME
    struct instant (*clock)(void); // the broker's clocks
};

// Texts are borrowed. NULL without memory. A journal takes it over (journal_new()).
struct storage *journal_pg_new(const struct pg_settings *settings) MUST_USE;
void journal_pg_use(struct storage *storage, struct journal_rows *rows);

// Runs the tasks of such a journal.
struct task_runner journal_pg_runner(struct storage *storage);

enum ownership_role {
    OWNERSHIP_READING, // reads the existing rows
    OWNERSHIP_STANDBY, // has all rows; another process owns the journal, or none
    OWNERSHIP_OWNER,   // has the lease, as far as is known
    OWNERSHIP_LOST     // had the lease
};

// The state of ownership at a moment.
struct ownership_snapshot {
    enum ownership_role role;
    struct rows_lease lease; // as it was read last
    nsec_t lease_at;         // when that was, by the boot-time clock; 0: never
    uint64_t seq;            // of the last row that this process has
    struct rows_member members[ROWS_MEMBERS_MAX];
    size_t count;
    struct rows_durability durability;
    bool connected; // the last call reached the database
    char why[ROWS_WHY_MAX];
};

// Any thread may read these as long as the storage exists: until when answers may leave, and the
// state of ownership.
const struct fence *journal_pg_fence(const struct storage *storage);
void journal_pg_ownership(struct storage *storage, struct ownership_snapshot *snapshot);

#endif
