/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_ROWS_H
#define TANDEM_JOURNAL_PG_ROWS_H

// What a database keeps of a journal, as the journal asks for it: rows of bytes, and a lease that
// says who may add some. libpq is behind it (rows_libpq.h), or, in tests, a fake.
//
// A row belongs to a unit, which is a segment, and has a number, `seq`, which rises by one from row
// to row over all units of a shard. The bytes of a unit's rows, one behind the other, are the
// segment as FORMAT.md describes it. A unit's rows are removed all at once, the oldest unit first.
//
// The lease is one row that also sums up the others. Whoever adds or removes rows does so in a
// transaction in which the lease still has his epoch, so that one who has lost it changes nothing.
//
// All calls are made by one thread at a time, and wait for the database, no longer than
// rows_settings says; but for stop(), which any thread may call: from then on all calls end soon.
// A call connects where there is no connection.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "journal/pg/care.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

// Most bytes of a row.
#define ROWS_BYTES_MAX ((size_t)8 * 1024 * 1024)
// So many units may be there at a time.
#define ROWS_UNITS_MAX 64

#define ROWS_NAME_MAX 128
#define ROWS_ADDRESS_MAX 512
#define ROWS_MEMBERS_MAX 16
#define ROWS_WHY_MAX 256

enum rows_outcome {
    ROWS_DONE,    // committed, and not warned of as not replicated
    ROWS_LOST,    // the lease has another epoch, or somebody has it: nothing was changed
    ROWS_DOUBT,   // the answer did not come: it may have been done, or may still be
    ROWS_AWAY,    // the database cannot be reached or does not take it now: nothing was changed
    ROWS_REFUSED, // it would say no again: rights, schema, shard. Nothing was changed
    ROWS_STOPPED  // stop() was called; it may have been done
};

// A row to be added: bytes that are gathered from parts.
struct rows_new {
    uint64_t unit;
    uint64_t seq;
    const struct iovec *parts;
    int count;
    size_t len; // of all parts, at most ROWS_BYTES_MAX
};

// The lease as its owner knows it. Where the database has another, it has stepped back
// (JOURNAL.md), and nothing is changed.
struct rows_known {
    uint64_t epoch;
    uint64_t seq;
    uint64_t history;
};

struct rows_append {
    struct rows_known known;     // as it was before; the first row has the next `seq`
    uint64_t history;            // as it is from now on
    const struct rows_new *rows; // rising in `seq`; all of them, or none, are added
    size_t count;
    bool tell; // those who wait() are woken
};

// A row as it is read. The bytes are valid until the call returns.
struct rows_row {
    uint64_t unit;
    uint64_t seq;
    uint64_t epoch; // of whoever added it
    const char *bytes;
    size_t len;
};

struct rows_lease {
    uint64_t epoch;   // 0: nobody has ever had it
    uint64_t oldest;  // units from this one on are needed; 1 at first
    uint64_t unit;    // of the youngest row; 0: there is none
    uint64_t seq;     // of that row; 0: there is none
    uint64_t history; // raised when an owner finds that rows are gone
    char holder[ROWS_NAME_MAX];
    char address[ROWS_ADDRESS_MAX]; // as the holder has said
    uint64_t since_ms;              // wall clock of the database: when the holder took it
    nsec_t left_for;                // by the database's clock; 0 or less: it has lapsed
    bool released;                  // its holder has given it up
};

// Who takes part, as each says of itself.
struct rows_member {
    char node[ROWS_NAME_MAX];
    char address[ROWS_ADDRESS_MAX];
    bool owner;
    bool takes;      // the lease, when it is free
    uint64_t epoch;  // as it knows it
    uint64_t seq;    // of the last row that it has
    nsec_t seen_for; // how long ago it said so, by the database's clock; set by report()
};

struct rows;

struct rows_ops {
    enum rows_outcome (*look)(struct rows *rows, struct rows_lease *lease);
    // Takes the lease where it still has the epoch and the holder of `seen`, and has lapsed or was
    // released.
    // `*taken` is as it stands then, with an epoch higher by one. ROWS_DOUBT: look.
    enum rows_outcome (*take)(struct rows *rows, const struct rows_lease *seen,
                              struct rows_lease *taken);
    // The rows of the unit above `after`, in order, until `row` returns false. That there are none
    // is no error: the unit may have been removed. What committed before the call is there.
    enum rows_outcome (*read)(struct rows *rows, uint64_t unit, uint64_t after,
                              bool (*row)(void *context, const struct rows_row *row),
                              void *context);
    enum rows_outcome (*append)(struct rows *rows, const struct rows_append *append);
    // Makes the lease last from now on, and tells what it sums up. Waits for what may still be
    // under way of a call that was in doubt: what was committed is told by lease->seq.
    enum rows_outcome (*renew)(struct rows *rows, uint64_t epoch, struct rows_lease *lease);
    // Removes the unit and all before it, at once: `oldest` is the one behind it. Waits for nobody:
    // ROWS_AWAY also where somebody reads one of them. ROWS_DOUBT where the lease is not as known.
    enum rows_outcome (*remove)(struct rows *rows, const struct rows_known *known, uint64_t unit);
    // Gives the lease up, and wakes those who wait(). ROWS_DOUBT: the same.
    enum rows_outcome (*release)(struct rows *rows, const struct rows_known *known);
    // Sleeps until woken, or for so long, which it does without a connection, too.
    enum rows_outcome (*wait)(struct rows *rows, nsec_t for_at_most);
    // Says how this member stands, and reads how all stand who have said so lately (a minute).
    enum rows_outcome (*report)(struct rows *rows, const struct rows_member *own,
                                struct rows_member members[ROWS_MEMBERS_MAX], size_t *count);
    enum rows_outcome (*care)(struct rows *rows, struct rows_care *care);
    // Why the last call that was not ROWS_DONE was not. Never NULL; without passwords.
    const char *(*why)(const struct rows *rows);
    void (*stop)(struct rows *rows);
    // Undoes stop(): calls work again.
    void (*resume)(struct rows *rows);
    void (*free)(struct rows *rows);
};

// The first member of whatever it is.
struct rows {
    const struct rows_ops *ops;
};

struct rows_settings {
    const char *conninfo;
    const char *shard;
    const char *holder;  // this process: unique among those of the shard
    const char *address; // what others are to know of how to reach it
    nsec_t ttl_for;      // how long the lease lasts
    nsec_t patience_for; // most that a call waits, but for wait()
};

#endif
