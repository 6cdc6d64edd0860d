/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_ROWS_PRIVATE_H
#define TANDEM_JOURNAL_PG_ROWS_PRIVATE_H

// Private to rows_*.c: rows by libpq.

#include "journal/pg/db.h"
#include "journal/pg/rows.h"
#include "journal/pg/schema.h"

struct rows_libpq {
    struct rows rows;
    struct db db;
    nsec_t ttl_for;
    uint64_t turn;    // of the lease, as the connection of that number has it (statements.h)
    uint64_t turn_of; // epoch
    uint64_t turn_in; // db.count
    char *gathered;   // a row whose bytes were in parts; owned
    size_t room;
    char shard[SCHEMA_SHARD_MAX + 1]; // empty: what was given is none
    char holder[ROWS_NAME_MAX];
    char address[ROWS_ADDRESS_MAX];
};

static inline struct rows_libpq *rows_libpq_of(struct rows *rows)
{
    return container_of(rows, struct rows_libpq, rows);
}

// Begins a call: its time runs, and there is a connection.
enum rows_outcome rows_begin(struct rows_libpq *rl) MUST_USE;
// The lease as the database has it; ROWS_REFUSED where there is none.
enum rows_outcome rows_see_lease(struct rows_libpq *rl, struct rows_lease *lease);
// A statement that answers with the lease. No row: ROWS_LOST.
enum rows_outcome rows_lease_by(struct rows_libpq *rl, enum statement statement,
                                const struct args *args, enum db_kind kind,
                                struct rows_lease *lease);
// Sees to it that the connection has a turn of that epoch.
enum rows_outcome rows_have_turn(struct rows_libpq *rl, uint64_t epoch);
// shard, epoch, holder, turn, seq, history: `mine` of statements.h.
void rows_args_mine(const struct rows_libpq *rl, const struct rows_known *known, struct args *args);
uint64_t rows_ttl_ms(const struct rows_libpq *rl);
// Ends a transaction that is not to be. The connection goes where that fails.
void rows_roll_back(struct rows_libpq *rl);
// Why nothing of ours was found: ROWS_LOST, or, where the lease is still ours but has gone on,
// ROWS_DOUBT.
enum rows_outcome rows_judge_loss(struct rows_libpq *rl, uint64_t epoch);

// Of rows_ops.
enum rows_outcome rows_look(struct rows *rows, struct rows_lease *lease);
enum rows_outcome rows_take(struct rows *rows, const struct rows_lease *seen,
                            struct rows_lease *taken);
enum rows_outcome rows_renew(struct rows *rows, uint64_t epoch, struct rows_lease *lease);
enum rows_outcome rows_release(struct rows *rows, const struct rows_known *known);
enum rows_outcome rows_add(struct rows *rows, const struct rows_append *append);
enum rows_outcome rows_remove(struct rows *rows, const struct rows_known *known, uint64_t unit);
enum rows_outcome rows_read(struct rows *rows, uint64_t unit, uint64_t after,
                            bool (*row)(void *context, const struct rows_row *row), void *context);
enum rows_outcome rows_report(struct rows *rows, const struct rows_member *own,
                              struct rows_member members[ROWS_MEMBERS_MAX], size_t *count);
enum rows_outcome rows_care(struct rows *rows, struct rows_care *care);

#endif
