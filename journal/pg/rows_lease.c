/* SPDX-License-Identifier: MIT */
#include "journal/pg/rows_private.h"

#include <string.h>

enum rows_outcome rows_begin(struct rows_libpq *rl)
{
    db_begin(&rl->db);
    if (!rl->shard[0]) {
        return db_fail(&rl->db, ROWS_REFUSED, "this is no name of a shard");
    }
    return db_ready(&rl->db);
}

uint64_t rows_ttl_ms(const struct rows_libpq *rl)
{
    return nsec_to_msec(rl->ttl_for);
}

void rows_roll_back(struct rows_libpq *rl)
{
    char why[ROWS_WHY_MAX];

    // Of two reasons the first is told.
    memcpy(why, rl->db.why, sizeof why);
    if (rl->db.conn && db_say(&rl->db, "ROLLBACK", DB_LOOKS) != ROWS_DONE) {
        db_drop(&rl->db);
    }
    memcpy(rl->db.why, why, sizeof why);
}

static void lease_of(const PGresult *result, struct rows_lease *lease)
{
    *lease = (struct rows_lease){
        .epoch = (uint64_t)field_number(result, 0, LEASE_EPOCH),
        .oldest = (uint64_t)field_number(result, 0, LEASE_OLDEST),
        .unit = (uint64_t)field_number(result, 0, LEASE_UNIT),
        .seq = (uint64_t)field_number(result, 0, LEASE_SEQ),
        .since_ms = (uint64_t)field_number(result, 0, LEASE_SINCE),
        .left_for = field_number(result, 0, LEASE_LEFT) * NSEC_PER_USEC,
        .released = field_bool(result, 0, LEASE_RELEASED),
        .history = (uint64_t)field_number(result, 0, LEASE_HISTORY),
    };
    field_text(result, 0, LEASE_HOLDER, lease->holder, sizeof lease->holder);
    field_text(result, 0, LEASE_ADDRESS, lease->address, sizeof lease->address);
}

enum rows_outcome rows_lease_by(struct rows_libpq *rl, enum statement statement,
                                const struct args *args, enum db_kind kind,
                                struct rows_lease *lease)
{
    PGresult *result;
    enum rows_outcome outcome = db_run(&rl->db, statement, args, kind, &result);

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    if (PQntuples(result) == 1) {
        lease_of(result, lease);
    } else {
        outcome = db_fail(&rl->db, ROWS_LOST, "the lease is another's");
    }
    if (outcome == ROWS_DONE && kind == DB_CHANGES) {
        rl->turn = (uint64_t)field_number(result, 0, LEASE_TURN);
        rl->turn_of = (uint64_t)field_number(result, 0, LEASE_EPOCH);
        rl->turn_in = rl->db.count;
    }
    PQclear(result);
    return outcome;
}

enum rows_outcome rows_see_lease(struct rows_libpq *rl, struct rows_lease *lease)
{
    struct args args = {0};
    enum rows_outcome outcome;

    args_text(&args, rl->shard);
    outcome = rows_lease_by(rl, LOOK, &args, DB_LOOKS, lease);
    if (outcome == ROWS_LOST) {
        outcome = db_fail(&rl->db, ROWS_REFUSED,
                          "the database has no shard %s: tandemd --init-store makes it", rl->shard);
    }
    return outcome;
}

static enum rows_outcome renew(struct rows_libpq *rl, uint64_t epoch, struct rows_lease *lease)
{
    struct args args = {0};

    args_text(&args, rl->shard);
    args_number(&args, epoch);
    args_text(&args, rl->holder);
    args_number(&args, rows_ttl_ms(rl));
    return rows_lease_by(rl, RENEW, &args, DB_CHANGES, lease);
}

enum rows_outcome rows_have_turn(struct rows_libpq *rl, uint64_t epoch)
{
    struct rows_lease lease;
    enum rows_outcome outcome;

    if (rl->turn_in == rl->db.count && rl->turn_of == epoch) {
        return ROWS_DONE;
    }
    outcome = renew(rl, epoch, &lease);
    // Where this is in doubt, nothing of the caller's is.
    return outcome == ROWS_DOUBT ? ROWS_AWAY : outcome;
}

void rows_args_mine(const struct rows_libpq *rl, const struct rows_known *known, struct args *args)
{
    args_text(args, rl->shard);
    args_number(args, known->epoch);
    args_text(args, rl->holder);
    args_number(args, rl->turn);
    args_number(args, known->seq);
    args_number(args, known->history);
}

enum rows_outcome rows_judge_loss(struct rows_libpq *rl, uint64_t epoch)
{
    struct rows_lease lease = {0};
    enum rows_outcome outcome = rows_see_lease(rl, &lease);

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    if (lease.epoch != epoch || lease.released || strcmp(lease.holder, rl->holder) != 0) {
        return db_fail(&rl->db, ROWS_LOST, "the lease is another's");
    }
    rl->turn_in = 0;
    return db_fail(&rl->db, ROWS_DOUBT,
                   "the last row in the database is not the one that is expected");
}

//
// Of rows_ops
//

enum rows_outcome rows_look(struct rows *rows, struct rows_lease *lease)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);

    return outcome == ROWS_DONE ? rows_see_lease(rl, lease) : outcome;
}

enum rows_outcome rows_take(struct rows *rows, const struct rows_lease *seen,
                            struct rows_lease *taken)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct args args = {0};

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    args_text(&args, rl->shard);
    args_number(&args, seen->epoch);
    args_text(&args, rl->holder);
    args_text(&args, rl->address);
    args_number(&args, rows_ttl_ms(rl));
    args_text(&args, seen->holder);
    return rows_lease_by(rl, TAKE, &args, DB_CHANGES, taken);
}

// The connection of before may still have a statement under way. The row of the lease is locked
// then until that has ended, whatever becomes of it, and this waits. One that arrives later finds
// another turn.
enum rows_outcome rows_renew(struct rows *rows, uint64_t epoch, struct rows_lease *lease)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);

    return outcome == ROWS_DONE ? renew(rl, epoch, lease) : outcome;
}

enum rows_outcome rows_release(struct rows *rows, const struct rows_known *known)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct args args = {0};
    PGresult *result;

    if (outcome == ROWS_DONE) {
        outcome = rows_have_turn(rl, known->epoch);
    }
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    rows_args_mine(rl, known, &args);
    outcome = db_run(&rl->db, RELEASE, &args, DB_CHANGES, &result);
    if (outcome == ROWS_DONE && PQntuples(result) != 1) {
        outcome = ROWS_LOST;
    }
    PQclear(result);
    return outcome == ROWS_LOST ? rows_judge_loss(rl, known->epoch) : outcome;
}
