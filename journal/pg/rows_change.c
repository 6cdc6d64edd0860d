/* SPDX-License-Identifier: MIT */
#include "journal/pg/rows_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t slot_of(uint64_t unit)
{
    return unit % ROWS_UNITS_MAX;
}

//
// Adding
//

// A row's bytes in one piece, as libpq wants them. NULL without memory.
static const char *in_one_piece(struct rows_libpq *rl, const struct rows_new *row)
{
    size_t len = 0;

    if (row->count == 1) {
        return row->parts[0].iov_base;
    }
    if (row->len > rl->room || !rl->gathered) {
        char *larger = realloc(rl->gathered, row->len > 0 ? row->len : 1);

        if (!larger) {
            return NULL;
        }
        rl->gathered = larger;
        rl->room = row->len;
    }
    for (int i = 0; i < row->count; i++) {
        if (row->parts[i].iov_len > 0) {
            memcpy(rl->gathered + len, row->parts[i].iov_base, row->parts[i].iov_len);
            len += row->parts[i].iov_len;
        }
    }
    ENSURE(len == row->len);
    return rl->gathered;
}

// A row before the last: it is not there unless the last one is.
static enum rows_outcome add_row(struct rows_libpq *rl, uint64_t epoch, const struct rows_new *row)
{
    const char *bytes = in_one_piece(rl, row);
    struct args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    if (!bytes) {
        return db_fail(&rl->db, ROWS_AWAY, "out of memory");
    }
    args_text(&args, rl->shard);
    args_number(&args, slot_of(row->unit));
    args_number(&args, row->unit);
    args_number(&args, row->seq);
    args_number(&args, epoch);
    args_bytes(&args, bytes, row->len);
    db_go_on(&rl->db);
    outcome = db_run(&rl->db, ADD, &args, DB_LOOKS, &result);
    PQclear(result);
    return outcome;
}

// The last row, with which the lease goes on. `kind` says whether it commits by itself.
static enum rows_outcome add_last(struct rows_libpq *rl, const struct rows_append *append,
                                  enum db_kind kind)
{
    const struct rows_new *row = &append->rows[append->count - 1];
    const char *bytes = in_one_piece(rl, row);
    struct args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    if (!bytes) {
        return db_fail(&rl->db, ROWS_AWAY, "out of memory");
    }
    rows_args_mine(rl, append->epoch, &args);
    args_number(&args, rows_ttl_ms(rl));
    args_number(&args, append->rows[0].seq);
    args_number(&args, row->seq);
    args_number(&args, row->unit);
    args_number(&args, slot_of(row->unit));
    args_bytes(&args, bytes, row->len);
    outcome = db_run(&rl->db, append->tell ? APPEND_TELL : APPEND, &args, kind, &result);
    if (outcome == ROWS_DONE && PQntuples(result) != 1) {
        outcome = ROWS_LOST;
    }
    PQclear(result);
    return outcome;
}

// Large rows, in one transaction: the lease comes last, so that it is held as briefly as can be.
static enum rows_outcome add_all(struct rows_libpq *rl, const struct rows_append *append)
{
    enum rows_outcome outcome = db_say(&rl->db, "BEGIN", DB_LOOKS);

    for (size_t i = 0; i + 1 < append->count && outcome == ROWS_DONE; i++) {
        outcome = add_row(rl, append->epoch, &append->rows[i]);
    }
    if (outcome == ROWS_DONE) {
        db_go_on(&rl->db);
        outcome = add_last(rl, append, DB_LOOKS);
    }
    if (outcome == ROWS_DONE) {
        return db_say(&rl->db, "COMMIT", DB_CHANGES);
    }
    rows_roll_back(rl);
    return outcome;
}

enum rows_outcome rows_add(struct rows *rows, const struct rows_append *append)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);

    if (outcome == ROWS_DONE) {
        outcome = rows_have_turn(rl, append->epoch);
    }
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    outcome = append->count == 1 ? add_last(rl, append, DB_CHANGES) : add_all(rl, append);
    return outcome == ROWS_LOST ? rows_judge_loss(rl, append->epoch) : outcome;
}

//
// Removing
//

// Who reads the unit holds it, for as long as that takes. Rows are not added meanwhile, nor can the
// lease be renewed: so he is hardly waited for, and another time will do.
static enum rows_outcome limit_waiting(struct rows_libpq *rl)
{
    char command[64];

    (void)snprintf(command, sizeof command, "SET LOCAL lock_timeout = %u",
                   nsec_to_msec(rl->ttl_for / 50));
    return db_say(&rl->db, command, DB_LOOKS);
}

// The first unit that is there; nobody changes the lease then until the transaction ends.
static enum rows_outcome hold(struct rows_libpq *rl, uint64_t epoch, uint64_t *oldest)
{
    struct args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    rows_args_mine(rl, epoch, &args);
    outcome = db_run(&rl->db, HOLD, &args, DB_LOOKS, &result);
    if (outcome == ROWS_DONE && PQntuples(result) != 1) {
        outcome = ROWS_LOST;
    }
    if (outcome == ROWS_DONE) {
        *oldest = (uint64_t)field_number(result, 0, 0);
    }
    PQclear(result);
    return outcome;
}

static enum rows_outcome pass(struct rows_libpq *rl, uint64_t oldest)
{
    struct args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    args_text(&args, rl->shard);
    args_number(&args, oldest);
    outcome = db_run(&rl->db, PASS, &args, DB_LOOKS, &result);
    PQclear(result);
    return outcome;
}

static enum rows_outcome truncate_slot(struct rows_libpq *rl, uint64_t slot)
{
    char command[96];

    (void)snprintf(command, sizeof command, "TRUNCATE tandem.rows_%s_%u", rl->shard,
                   (unsigned)slot);
    return db_say(&rl->db, command, DB_LOOKS);
}

// Where that has been done before, its slot may be another unit's by now: nothing is removed then.
static enum rows_outcome remove_held(struct rows_libpq *rl, uint64_t epoch, uint64_t unit)
{
    enum rows_outcome outcome = limit_waiting(rl);
    uint64_t oldest = 0;

    if (outcome == ROWS_DONE) {
        outcome = hold(rl, epoch, &oldest);
    }
    if (outcome == ROWS_DONE && oldest <= unit) {
        outcome = truncate_slot(rl, slot_of(unit));
        if (outcome == ROWS_DONE) {
            outcome = pass(rl, unit + 1);
        }
    }
    return outcome;
}

enum rows_outcome rows_remove(struct rows *rows, uint64_t epoch, uint64_t unit)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);

    if (outcome == ROWS_DONE) {
        outcome = rows_have_turn(rl, epoch);
    }
    if (outcome == ROWS_DONE) {
        outcome = db_say(&rl->db, "BEGIN", DB_LOOKS);
    }
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    outcome = remove_held(rl, epoch, unit);
    if (outcome == ROWS_DONE) {
        return db_say(&rl->db, "COMMIT", DB_CHANGES);
    }
    rows_roll_back(rl);
    return outcome == ROWS_LOST ? rows_judge_loss(rl, epoch) : outcome;
}
