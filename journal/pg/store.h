/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_STORE_H
#define TANDEM_JOURNAL_PG_STORE_H

// A journal in rows of a database (rows.h), which several processes may share: one of them owns it,
// by a lease, and the others follow. journal_open() returns when this process has come to own it:
// until then it follows, for days perhaps, and its broker has all jobs but those of the last
// moment.

#include "core/base/fence.h"
#include "core/base/macros.h"
#include "core/broker.h"
#include "journal/pg/outlook.h"
#include "journal/pg/rows.h"
#include "journal/task.h"

struct storage;

enum pg_demand {
    PG_DEMAND_NOTHING, // whatever a commit is worth is good
    PG_DEMAND_WARN,    // the log says so where it waits for no standby of the database
    PG_DEMAND_QUORUM   // the journal is not opened then
};

struct pg_settings {
    struct rows *rows;   // becomes the storage's; set before it is opened (journal_pg_use())
    const char *node;    // this process; unique
    const char *address; // as others are to know it
    const char *shard;   //
    nsec_t ttl_for;      // of the lease
    bool takes;          // the lease, when it is free; false: this process only follows
    bool yields;         // others have a chance first
    bool again;          // not the first opening: what the database refuses is waited for
    enum pg_demand demand;
    nsec_t (*boot)(void);          // CLOCK_BOOTTIME
    struct instant (*clock)(void); // the broker's clocks
};

// Texts are borrowed. NULL without memory. A journal takes it over (journal_new()).
struct storage *journal_pg_new(const struct pg_settings *settings) MUST_USE;
void journal_pg_use(struct storage *storage, struct rows *rows);

// Who carries out the tasks of such a journal.
struct task_runner pg_runner(struct storage *storage);

// What any thread may look at, for as long as the storage is there: until when answers may leave,
// and how things stand.
const struct fence *journal_pg_fence(const struct storage *storage);
void journal_pg_look(struct storage *storage, struct outlook_shown *shown);

#endif
