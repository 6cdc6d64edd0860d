/* SPDX-License-Identifier: MIT */
#include "journal/pg/rows_private.h"

#include <inttypes.h>
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
    rows_args_mine(rl, &append->known, &args);
    args_number(&args, rows_ttl_ms(rl));
    args_number(&args, append->history);
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
        outcome = add_row(rl, append->known.epoch, &append->rows[i]);
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
        outcome = rows_have_turn(rl, append->known.epoch);
    }
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    outcome = append->count == 1 ? add_last(rl, append, DB_CHANGES) : add_all(rl, append);
    return outcome == ROWS_LOST ? rows_judge_loss(rl, append->known.epoch) : outcome;
}

//
// Removing
//

// The slots of the units that are to go, so many from that of `oldest` on: they follow one another,
// though numbers may have been passed over, in multiples of how many slots there are.
static size_t slots_to_go(uint64_t oldest, uint64_t unit)
{
    return unit < oldest ? 0 : (unit + 1 - oldest) % ROWS_UNITS_MAX;
}

// Who reads one of them holds it, for as long as that takes, and is not waited for: not with the
// lease in hand, for which all others wait, and not in a queue that others would have to stand in.
static enum rows_outcome lock_slots(struct rows_libpq *rl, uint64_t oldest, size_t count)
{
    char command[ROWS_UNITS_MAX * (sizeof ", tandem.rows__63" + SCHEMA_SHARD_MAX) + 80];
    size_t len = (size_t)snprintf(command, sizeof command, "LOCK TABLE");

    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(command + len, sizeof command - len, "%s tandem.rows_%s_%u",
                                i > 0 ? "," : "", rl->shard, (unsigned)slot_of(oldest + i));
    }
    (void)snprintf(command + len, sizeof command - len, " IN ACCESS EXCLUSIVE MODE NOWAIT");
    return db_say(&rl->db, command, DB_LOOKS);
}

// The first unit that is there. Where the lease is as it is known, nobody changes it then until the
// transaction ends.
static enum rows_outcome hold(struct rows_libpq *rl, const struct rows_known *known,
                              uint64_t *oldest)
{
    struct args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    rows_args_mine(rl, known, &args);
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

// Brokers of before may have put a younger unit into the same slot: that must stay.
static enum rows_outcome truncate_slot(struct rows_libpq *rl, uint64_t slot, uint64_t unit)
{
    char command[160];
    PGresult *result;
    enum rows_outcome outcome;

    (void)snprintf(command, sizeof command,
                   "SELECT FROM tandem.rows_%s_%u WHERE unit > %" PRIu64 " LIMIT 1", rl->shard,
                   (unsigned)slot, unit);
    outcome = db_ask(&rl->db, command, DB_LOOKS, &result);
    if (outcome == ROWS_DONE && PQntuples(result) > 0) {
        outcome = db_fail(&rl->db, ROWS_REFUSED, "a younger unit is in the table rows_%s_%u",
                          rl->shard, (unsigned)slot);
    }
    PQclear(result);
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    (void)snprintf(command, sizeof command, "TRUNCATE tandem.rows_%s_%u", rl->shard,
                   (unsigned)slot);
    return db_say(&rl->db, command, DB_LOOKS);
}

static enum rows_outcome remove_locked(struct rows_libpq *rl, const struct rows_known *known,
                                       uint64_t seen, uint64_t unit)
{
    size_t count = slots_to_go(seen, unit);
    uint64_t oldest = 0;
    enum rows_outcome outcome = lock_slots(rl, seen, count);

    if (outcome == ROWS_DONE) {
        outcome = hold(rl, known, &oldest);
    }
    if (outcome == ROWS_DONE && oldest != seen) {
        outcome = db_fail(&rl->db, ROWS_AWAY, "another unit is the oldest by now");
    }
    for (size_t i = 0; i < count && outcome == ROWS_DONE; i++) {
        outcome = truncate_slot(rl, slot_of(seen + i), unit);
    }
    return outcome == ROWS_DONE ? pass(rl, unit + 1) : outcome;
}

// Where that has been done before, its slots may be those of other units by now: nothing is removed
// then.
enum rows_outcome rows_remove(struct rows *rows, const struct rows_known *known, uint64_t unit)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    struct rows_lease lease = {0};
    enum rows_outcome outcome = rows_begin(rl);

    if (outcome == ROWS_DONE) {
        outcome = rows_have_turn(rl, known->epoch);
    }
    if (outcome == ROWS_DONE) {
        outcome = rows_see_lease(rl, &lease);
    }
    if (outcome != ROWS_DONE || slots_to_go(lease.oldest, unit) == 0) {
        return outcome;
    }
    outcome = db_say(&rl->db, "BEGIN", DB_LOOKS);
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    outcome = remove_locked(rl, known, lease.oldest, unit);
    if (outcome == ROWS_DONE) {
        return db_say(&rl->db, "COMMIT", DB_CHANGES);
    }
    rows_roll_back(rl);
    return outcome == ROWS_LOST ? rows_judge_loss(rl, known->epoch) : outcome;
}
