/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_JOURNAL_ROWS_H
#define TANDEM_JOURNAL_PG_JOURNAL_ROWS_H

// What a database keeps of a journal: rows of bytes, and a lease that says which process may add
// rows. A table of functions, implemented by libpq (rows_libpq.c) or, in tests, in memory.
//
// A row belongs to a unit, which is a segment, and has a number, `seq`, which increases by one from
// row to row over all units of a shard. The concatenated bytes of a unit's rows are the segment as
// FORMAT.md specifies it. All rows of a unit are removed together, the oldest unit first.
//
// The lease is one row, which also has the unit and the seq of the last row. Rows are added and
// removed in a transaction that requires the lease to have the caller's epoch, so a process that
// has lost the lease changes nothing.
//
// One thread at a time makes calls. They connect if necessary, and wait for the database, no longer
// than the settings say. Only stop() may be called by any thread: all calls return soon then.

#include "core/base/macros.h"
#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

// Most bytes of a row.
#define ROWS_BYTES_MAX ((size_t)8 * 1024 * 1024)
// Most units at a time.
#define ROWS_UNITS_MAX 64

#define ROWS_NAME_MAX 128
#define ROWS_ADDRESS_MAX 512
#define ROWS_MEMBERS_MAX 16
#define ROWS_WHY_MAX 256
#define ROWS_DURABILITY_TEXT_MAX 256

enum rows_outcome {
    ROWS_DONE,    // committed, without a warning that it is not replicated
    ROWS_LOST,    // the lease has another epoch or holder: nothing was changed
    ROWS_DOUBT,   // no answer: it may have been executed, or may still be
    ROWS_AWAY,    // the database cannot be reached or does not accept it now: nothing was changed
    ROWS_REFUSED, // it would be refused again: rights, schema, shard. Nothing was changed
    ROWS_STOPPED  // stop() was called; it may have been executed
};

// A row to be added; its bytes are gathered from parts.
struct rows_new {
    uint64_t unit;
    uint64_t seq;
    const struct iovec *parts;
    int count;
    size_t len; // of all parts, at most ROWS_BYTES_MAX
};

// The lease as its owner knows it. If the database has another, it has lost transactions
// (JOURNAL.md), and nothing is changed.
struct rows_known {
    uint64_t epoch;
    uint64_t seq;
    uint64_t history;
};

struct rows_append {
    struct rows_known known;     // before the call; the first row has the next `seq`
    uint64_t history;            // from now on
    const struct rows_new *rows; // by `seq`; all of them or none are added
    size_t count;
    bool tell; // wake the processes in wait()
};

// A row that was read. The bytes are valid until the callback returns.
struct rows_row {
    uint64_t unit;
    uint64_t seq;
    uint64_t epoch; // of the process that added it
    const char *bytes;
    size_t len;
};

struct rows_lease {
    uint64_t epoch;   // 0: no process ever held it
    uint64_t oldest;  // the first unit that is needed; 1 at first
    uint64_t unit;    // of the last row; 0: there is none
    uint64_t seq;     // of the last row; 0: there is none
    uint64_t history; // increased when an owner finds that rows are lost
    char holder[ROWS_NAME_MAX];
    char address[ROWS_ADDRESS_MAX]; // as the holder has announced it
    uint64_t since_ms;              // when the holder took it, by the database's wall clock
    nsec_t left_for;                // by the database's clock; 0 or less: it has expired
    bool released;                  // its holder has given it up
};

// A process that takes part, as it reports itself.
struct rows_member {
    char node[ROWS_NAME_MAX];
    char address[ROWS_ADDRESS_MAX];
    bool owner;
    bool takes;      // it takes the lease when that is free
    uint64_t epoch;  // that it knows of
    uint64_t seq;    // of the last row that it has
    nsec_t seen_for; // how long ago it reported, by the database's clock; set by report()
};

// What a commit guarantees by the settings of the database.
struct rows_durability {
    bool commits_wait;                   // for this server's disk at least (synchronous_commit)
    bool standbys_wait;                  // ... and for a standby (synchronous_standby_names)
    bool fsync;                          // the setting `fsync`
    char text[ROWS_DURABILITY_TEXT_MAX]; // these settings, for operators
};

// Whether committed data are on a disk.
static inline bool rows_commits_are_durable(const struct rows_durability *durability)
{
    return durability->fsync && durability->commits_wait;
}

struct journal_rows;

struct journal_rows_ops {
    enum rows_outcome (*look)(struct journal_rows *rows, struct rows_lease *lease);
    // Takes the lease if it still has the epoch and the holder of `seen`, and has expired or was
    // released. `*taken` is the new lease, with the epoch increased by one. After ROWS_DOUBT,
    // look().
    enum rows_outcome (*take)(struct journal_rows *rows, const struct rows_lease *seen,
                              struct rows_lease *taken);
    // Reads the rows of the unit above `after`, in order, until `row` returns false. It is not an
    // error if there are none: the unit may have been removed. Sees all earlier commits.
    enum rows_outcome (*read)(struct journal_rows *rows, uint64_t unit, uint64_t after,
                              bool (*row)(void *context, const struct rows_row *row),
                              void *context);
    enum rows_outcome (*append)(struct journal_rows *rows, const struct rows_append *append);
    // Extends the lease from now on, and reads it. Waits for a call in doubt that may still be
    // executing: lease->seq shows whether it was committed.
    enum rows_outcome (*renew)(struct journal_rows *rows, uint64_t epoch, struct rows_lease *lease);
    // Removes the unit and all before it, at once; `oldest` becomes the next one. Does not wait for
    // readers: ROWS_AWAY also if one of the units is being read. ROWS_DOUBT if the lease is not as
    // known.
    enum rows_outcome (*remove)(struct journal_rows *rows, const struct rows_known *known,
                                uint64_t unit);
    // Gives up the lease, and wakes the processes in wait(). ROWS_DOUBT: the same.
    enum rows_outcome (*release)(struct journal_rows *rows, const struct rows_known *known);
    // Sleeps until woken, or for that long, also without a connection.
    enum rows_outcome (*wait)(struct journal_rows *rows, nsec_t for_at_most);
    // Reports the state of this member, and reads that of all members which reported within a
    // minute.
    enum rows_outcome (*report)(struct journal_rows *rows, const struct rows_member *own,
                                struct rows_member members[ROWS_MEMBERS_MAX], size_t *count);
    enum rows_outcome (*durability)(struct journal_rows *rows, struct rows_durability *durability);
    // The reason of the last outcome other than ROWS_DONE. Never NULL; without passwords.
    const char *(*why)(const struct journal_rows *rows);
    void (*stop)(struct journal_rows *rows);
    // Reverts stop(): calls work again.
    void (*resume)(struct journal_rows *rows);
    void (*free)(struct journal_rows *rows);
};

// The first member of each implementation.
struct journal_rows {
    const struct journal_rows_ops *ops;
};

struct rows_settings {
    const char *conninfo;
    const char *shard;
    const char *holder;  // this process: unique in the shard
    const char *address; // by which other processes reach it
    nsec_t ttl_for;      // duration of the lease
    nsec_t patience_for; // longest wait of a call other than wait()
};

// Rows in PostgreSQL or a server with its wire protocol (schema.h describes the tables). The server
// must support bigint, bytea, prepared statements, and WITH around statements that change rows.
// Without LISTEN, wait() only sleeps. Units are removed by TRUNCATE within a transaction, on
// partitions of partitions: YugabyteDB supports that, CockroachDB does not. A connection pooler
// must keep sessions (PgBouncer: pool_mode = session).
//
// Does not connect yet; the first call reports errors of the connection string. Settings are
// copied. NULL without memory or descriptors.
struct journal_rows *journal_rows_libpq_new(const struct rows_settings *settings) MUST_USE;

#endif
