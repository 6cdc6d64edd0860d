/* SPDX-License-Identifier: MIT */

// Journal rows in PostgreSQL, by libpq.

#include "journal/pg/journal_rows.h"

#include "core/base/list.h"
#include "journal/pg/db.h"
#include "journal/pg/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rows_libpq {
    struct journal_rows rows;
    struct db db;
    nsec_t ttl_for;
    uint64_t turn;    // of the lease, known to one connection (statements.h)
    uint64_t turn_of; // the epoch it belongs to
    uint64_t turn_in; // the connection, as db.count
    char *gathered;   // the bytes of a row in one piece; owned
    size_t room;
    char shard[SCHEMA_SHARD_MAX + 1]; // empty: the configured name is invalid
    char holder[ROWS_NAME_MAX];
    char address[ROWS_ADDRESS_MAX];
};

static inline struct rows_libpq *rows_libpq_of(struct journal_rows *rows)
{
    return container_of(rows, struct rows_libpq, rows);
}

//
// The lease
//

static enum rows_outcome rows_begin(struct rows_libpq *rl)
{
    db_begin(&rl->db);
    if (!rl->shard[0]) {
        return db_fail(&rl->db, ROWS_REFUSED, "the name of the shard is not valid");
    }
    return db_ready(&rl->db);
}

static uint64_t rows_ttl_ms(const struct rows_libpq *rl)
{
    return nsec_to_msec(rl->ttl_for);
}

static void rows_roll_back(struct rows_libpq *rl)
{
    char why[ROWS_WHY_MAX];

    // The first of two reasons is reported.
    memcpy(why, rl->db.why, sizeof why);
    if (rl->db.conn && db_say(&rl->db, "ROLLBACK", DB_LOOKS) != ROWS_DONE) {
        db_drop(&rl->db);
    }
    memcpy(rl->db.why, why, sizeof why);
}

static void rows_lease_of(const PGresult *result, struct rows_lease *lease)
{
    *lease = (struct rows_lease){
        .epoch = (uint64_t)pg_field_number(result, 0, LEASE_EPOCH),
        .oldest = (uint64_t)pg_field_number(result, 0, LEASE_OLDEST),
        .unit = (uint64_t)pg_field_number(result, 0, LEASE_UNIT),
        .seq = (uint64_t)pg_field_number(result, 0, LEASE_SEQ),
        .since_ms = (uint64_t)pg_field_number(result, 0, LEASE_SINCE),
        .left_for = pg_field_number(result, 0, LEASE_LEFT) * NSEC_PER_USEC,
        .released = pg_field_bool(result, 0, LEASE_RELEASED),
        .history = (uint64_t)pg_field_number(result, 0, LEASE_HISTORY),
    };
    pg_field_text(result, 0, LEASE_HOLDER, lease->holder, sizeof lease->holder);
    pg_field_text(result, 0, LEASE_ADDRESS, lease->address, sizeof lease->address);
}

static enum rows_outcome rows_lease_by(struct rows_libpq *rl, enum statement statement,
                                       const struct pg_args *args, enum db_kind kind,
                                       struct rows_lease *lease)
{
    PGresult *result;
    enum rows_outcome outcome = db_run(&rl->db, statement, args, kind, &result);

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    if (PQntuples(result) == 1) {
        rows_lease_of(result, lease);
    } else {
        outcome = db_fail(&rl->db, ROWS_LOST, "another process has the lease");
    }
    if (outcome == ROWS_DONE && kind == DB_CHANGES) {
        rl->turn = (uint64_t)pg_field_number(result, 0, LEASE_TURN);
        rl->turn_of = (uint64_t)pg_field_number(result, 0, LEASE_EPOCH);
        rl->turn_in = rl->db.count;
    }
    PQclear(result);
    return outcome;
}

static enum rows_outcome rows_see_lease(struct rows_libpq *rl, struct rows_lease *lease)
{
    struct pg_args args = {0};
    enum rows_outcome outcome;

    pg_args_text(&args, rl->shard);
    outcome = rows_lease_by(rl, LOOK, &args, DB_LOOKS, lease);
    if (outcome == ROWS_LOST) {
        outcome =
            db_fail(&rl->db, ROWS_REFUSED,
                    "the database has no shard %s: create it by tandemd --init-store", rl->shard);
    }
    return outcome;
}

static enum rows_outcome rows_renew_lease(struct rows_libpq *rl, uint64_t epoch,
                                          struct rows_lease *lease)
{
    struct pg_args args = {0};

    pg_args_text(&args, rl->shard);
    pg_args_number(&args, epoch);
    pg_args_text(&args, rl->holder);
    pg_args_number(&args, rows_ttl_ms(rl));
    return rows_lease_by(rl, RENEW, &args, DB_CHANGES, lease);
}

static enum rows_outcome rows_have_turn(struct rows_libpq *rl, uint64_t epoch)
{
    struct rows_lease lease;
    enum rows_outcome outcome;

    if (rl->turn_in == rl->db.count && rl->turn_of == epoch) {
        return ROWS_DONE;
    }
    outcome = rows_renew_lease(rl, epoch, &lease);
    // If the renewal is in doubt, the caller's statement is not.
    return outcome == ROWS_DOUBT ? ROWS_AWAY : outcome;
}

static void rows_args_mine(const struct rows_libpq *rl, const struct rows_known *known,
                           struct pg_args *args)
{
    pg_args_text(args, rl->shard);
    pg_args_number(args, known->epoch);
    pg_args_text(args, rl->holder);
    pg_args_number(args, rl->turn);
    pg_args_number(args, known->seq);
    pg_args_number(args, known->history);
}

static enum rows_outcome rows_judge_loss(struct rows_libpq *rl, uint64_t epoch)
{
    struct rows_lease lease = {0};
    enum rows_outcome outcome = rows_see_lease(rl, &lease);

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    if (lease.epoch != epoch || lease.released || strcmp(lease.holder, rl->holder) != 0) {
        return db_fail(&rl->db, ROWS_LOST, "another process has the lease");
    }
    rl->turn_in = 0;
    return db_fail(&rl->db, ROWS_DOUBT, "the last row in the database is not the expected one");
}

//
// Calls
//

static enum rows_outcome rows_look(struct journal_rows *rows, struct rows_lease *lease)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);

    return outcome == ROWS_DONE ? rows_see_lease(rl, lease) : outcome;
}

static enum rows_outcome rows_take(struct journal_rows *rows, const struct rows_lease *seen,
                                   struct rows_lease *taken)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct pg_args args = {0};

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    pg_args_text(&args, rl->shard);
    pg_args_number(&args, seen->epoch);
    pg_args_text(&args, rl->holder);
    pg_args_text(&args, rl->address);
    pg_args_number(&args, rows_ttl_ms(rl));
    pg_args_text(&args, seen->holder);
    return rows_lease_by(rl, TAKE, &args, DB_CHANGES, taken);
}

// A statement of the last connection may still be executing. Then the row of the lease is locked
// until it has ended, and this waits. A statement that arrives later finds another turn.
static enum rows_outcome rows_renew(struct journal_rows *rows, uint64_t epoch,
                                    struct rows_lease *lease)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);

    return outcome == ROWS_DONE ? rows_renew_lease(rl, epoch, lease) : outcome;
}

static enum rows_outcome rows_release(struct journal_rows *rows, const struct rows_known *known)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct pg_args args = {0};
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

static uint64_t rows_slot_of(uint64_t unit)
{
    return unit % ROWS_UNITS_MAX;
}

//
// Adding
//

// A row's bytes in one piece, which libpq needs. NULL without memory.
static const char *rows_in_one_piece(struct rows_libpq *rl, const struct rows_new *row)
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

// A row before the last: it exists only if the last one does.
static enum rows_outcome rows_add_row(struct rows_libpq *rl, uint64_t epoch,
                                      const struct rows_new *row)
{
    const char *bytes = rows_in_one_piece(rl, row);
    struct pg_args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    if (!bytes) {
        return db_fail(&rl->db, ROWS_AWAY, "out of memory");
    }
    pg_args_text(&args, rl->shard);
    pg_args_number(&args, rows_slot_of(row->unit));
    pg_args_number(&args, row->unit);
    pg_args_number(&args, row->seq);
    pg_args_number(&args, epoch);
    pg_args_bytes(&args, bytes, row->len);
    db_go_on(&rl->db);
    outcome = db_run(&rl->db, ADD, &args, DB_LOOKS, &result);
    PQclear(result);
    return outcome;
}

// The last row, together with the update of the lease. `kind`: whether it commits by itself.
static enum rows_outcome rows_add_last(struct rows_libpq *rl, const struct rows_append *append,
                                       enum db_kind kind)
{
    const struct rows_new *row = &append->rows[append->count - 1];
    const char *bytes = rows_in_one_piece(rl, row);
    struct pg_args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    if (!bytes) {
        return db_fail(&rl->db, ROWS_AWAY, "out of memory");
    }
    rows_args_mine(rl, &append->known, &args);
    pg_args_number(&args, rows_ttl_ms(rl));
    pg_args_number(&args, append->history);
    pg_args_number(&args, row->seq);
    pg_args_number(&args, row->unit);
    pg_args_number(&args, rows_slot_of(row->unit));
    pg_args_bytes(&args, bytes, row->len);
    outcome = db_run(&rl->db, append->tell ? APPEND_TELL : APPEND, &args, kind, &result);
    if (outcome == ROWS_DONE && PQntuples(result) != 1) {
        outcome = ROWS_LOST;
    }
    PQclear(result);
    return outcome;
}

// Large rows, in one transaction: the lease comes last, so that it is locked as briefly as
// possible.
static enum rows_outcome rows_add_all(struct rows_libpq *rl, const struct rows_append *append)
{
    enum rows_outcome outcome = db_say(&rl->db, "BEGIN", DB_LOOKS);

    for (size_t i = 0; i + 1 < append->count && outcome == ROWS_DONE; i++) {
        outcome = rows_add_row(rl, append->known.epoch, &append->rows[i]);
    }
    if (outcome == ROWS_DONE) {
        db_go_on(&rl->db);
        outcome = rows_add_last(rl, append, DB_LOOKS);
    }
    if (outcome == ROWS_DONE) {
        return db_say(&rl->db, "COMMIT", DB_CHANGES);
    }
    rows_roll_back(rl);
    return outcome;
}

static enum rows_outcome rows_add(struct journal_rows *rows, const struct rows_append *append)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);

    if (outcome == ROWS_DONE) {
        outcome = rows_have_turn(rl, append->known.epoch);
    }
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    outcome = append->count == 1 ? rows_add_last(rl, append, DB_CHANGES) : rows_add_all(rl, append);
    return outcome == ROWS_LOST ? rows_judge_loss(rl, append->known.epoch) : outcome;
}

//
// Removing
//

// The number of slots to be freed, from that of `oldest` on: they are consecutive, since numbers
// are passed over in multiples of the number of slots.
static size_t rows_slots_to_go(uint64_t oldest, uint64_t unit)
{
    return unit < oldest ? 0 : (unit + 1 - oldest) % ROWS_UNITS_MAX;
}

// A reader locks a unit for as long as it reads. It is not waited for: the lease is locked
// meanwhile, for which other processes wait, and a queued lock would block later readers.
static enum rows_outcome rows_lock_slots(struct rows_libpq *rl, uint64_t oldest, size_t count)
{
    char command[ROWS_UNITS_MAX * (sizeof ", tandem.rows__63" + SCHEMA_SHARD_MAX) + 80];
    size_t len = (size_t)snprintf(command, sizeof command, "LOCK TABLE");

    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(command + len, sizeof command - len, "%s tandem.rows_%s_%u",
                                i > 0 ? "," : "", rl->shard, (unsigned)rows_slot_of(oldest + i));
    }
    (void)snprintf(command + len, sizeof command - len, " IN ACCESS EXCLUSIVE MODE NOWAIT");
    return db_say(&rl->db, command, DB_LOOKS);
}

// The first unit in the database. If the lease is as known, no other process changes it until the
// transaction ends.
static enum rows_outcome rows_hold_lease(struct rows_libpq *rl, const struct rows_known *known,
                                         uint64_t *oldest)
{
    struct pg_args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    rows_args_mine(rl, known, &args);
    outcome = db_run(&rl->db, HOLD, &args, DB_LOOKS, &result);
    if (outcome == ROWS_DONE && PQntuples(result) != 1) {
        outcome = ROWS_LOST;
    }
    if (outcome == ROWS_DONE) {
        *oldest = (uint64_t)pg_field_number(result, 0, 0);
    }
    PQclear(result);
    return outcome;
}

static enum rows_outcome rows_set_oldest(struct rows_libpq *rl, uint64_t oldest)
{
    struct pg_args args = {0};
    PGresult *result;
    enum rows_outcome outcome;

    pg_args_text(&args, rl->shard);
    pg_args_number(&args, oldest);
    outcome = db_run(&rl->db, PASS, &args, DB_LOOKS, &result);
    PQclear(result);
    return outcome;
}

// An older broker may have put a younger unit into the same slot: that must stay.
static enum rows_outcome rows_truncate_slot(struct rows_libpq *rl, uint64_t slot, uint64_t unit)
{
    char command[160];
    PGresult *result;
    enum rows_outcome outcome;

    (void)snprintf(command, sizeof command,
                   "SELECT FROM tandem.rows_%s_%u WHERE unit > %" PRIu64 " LIMIT 1", rl->shard,
                   (unsigned)slot, unit);
    outcome = db_ask(&rl->db, command, DB_LOOKS, &result);
    if (outcome == ROWS_DONE && PQntuples(result) > 0) {
        outcome = db_fail(&rl->db, ROWS_REFUSED, "the table rows_%s_%u contains a younger unit",
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

static enum rows_outcome rows_remove_locked(struct rows_libpq *rl, const struct rows_known *known,
                                            uint64_t seen, uint64_t unit)
{
    size_t count = rows_slots_to_go(seen, unit);
    uint64_t oldest = 0;
    enum rows_outcome outcome = rows_lock_slots(rl, seen, count);

    if (outcome == ROWS_DONE) {
        outcome = rows_hold_lease(rl, known, &oldest);
    }
    if (outcome == ROWS_DONE && oldest != seen) {
        outcome = db_fail(&rl->db, ROWS_AWAY, "another unit has become the oldest");
    }
    for (size_t i = 0; i < count && outcome == ROWS_DONE; i++) {
        outcome = rows_truncate_slot(rl, rows_slot_of(seen + i), unit);
    }
    return outcome == ROWS_DONE ? rows_set_oldest(rl, unit + 1) : outcome;
}

// If the unit was removed before, its slot may be that of another unit by now: nothing is removed
// then.
static enum rows_outcome rows_remove(struct journal_rows *rows, const struct rows_known *known,
                                     uint64_t unit)
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
    if (outcome != ROWS_DONE || rows_slots_to_go(lease.oldest, unit) == 0) {
        return outcome;
    }
    outcome = db_say(&rl->db, "BEGIN", DB_LOOKS);
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    outcome = rows_remove_locked(rl, known, lease.oldest, unit);
    if (outcome == ROWS_DONE) {
        return db_say(&rl->db, "COMMIT", DB_CHANGES);
    }
    rows_roll_back(rl);
    return outcome == ROWS_LOST ? rows_judge_loss(rl, known->epoch) : outcome;
}

//
// Reading
//

enum { ROW_UNIT, ROW_SEQ, ROW_EPOCH, ROW_BATCH };

struct rows_reader {
    bool (*row)(void *context, const struct rows_row *row);
    void *context;
};

static bool rows_pass_on(void *context, const PGresult *result)
{
    const struct rows_reader *reader = context;
    struct rows_row row = {
        .unit = (uint64_t)pg_field_number(result, 0, ROW_UNIT),
        .seq = (uint64_t)pg_field_number(result, 0, ROW_SEQ),
        .epoch = (uint64_t)pg_field_number(result, 0, ROW_EPOCH),
        .bytes = PQgetvalue(result, 0, ROW_BATCH),
        .len = (size_t)PQgetlength(result, 0, ROW_BATCH),
    };

    return reader->row(reader->context, &row);
}

// Reads the partition of the unit: a query over all of them would lock all, and no unit could be
// removed while another is read.
static enum rows_outcome rows_read(struct journal_rows *rows, uint64_t unit, uint64_t after,
                                   bool (*row)(void *context, const struct rows_row *row),
                                   void *context)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct rows_reader reader = {.row = row, .context = context};
    struct pg_args args = {0};
    char question[256];

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    (void)snprintf(question, sizeof question,
                   "SELECT unit, seq, epoch, batch FROM tandem.rows_%s_%u "
                   "WHERE unit = $1::bigint AND seq > $2::bigint ORDER BY seq",
                   rl->shard, (unsigned)(unit % ROWS_UNITS_MAX));
    pg_args_number(&args, unit);
    pg_args_number(&args, after);
    return db_stream(&rl->db, question, &args, rows_pass_on, &reader);
}

//
// Members
//

static void rows_member_of(const PGresult *result, int row, struct rows_member *member)
{
    *member = (struct rows_member){
        .owner = pg_field_bool(result, row, MEMBER_OWNER),
        .takes = pg_field_bool(result, row, MEMBER_TAKES),
        .epoch = (uint64_t)pg_field_number(result, row, MEMBER_EPOCH),
        .seq = (uint64_t)pg_field_number(result, row, MEMBER_SEQ),
        .seen_for = pg_field_number(result, row, MEMBER_SEEN) * NSEC_PER_USEC,
    };
    pg_field_text(result, row, MEMBER_NODE, member->node, sizeof member->node);
    pg_field_text(result, row, MEMBER_ADDRESS, member->address, sizeof member->address);
}

static enum rows_outcome rows_report(struct journal_rows *rows, const struct rows_member *own,
                                     struct rows_member members[ROWS_MEMBERS_MAX], size_t *count)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct pg_args args = {0};
    PGresult *result;

    *count = 0;
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    pg_args_text(&args, rl->shard);
    pg_args_text(&args, own->node);
    pg_args_text(&args, own->address);
    pg_args_number(&args, own->owner);
    pg_args_number(&args, own->takes);
    pg_args_number(&args, own->epoch);
    pg_args_number(&args, own->seq);
    outcome = db_run(&rl->db, REPORT, &args, DB_LOOKS, &result);
    for (int i = 0; outcome == ROWS_DONE && i < PQntuples(result) && i < ROWS_MEMBERS_MAX; i++) {
        rows_member_of(result, i, &members[i]);
        *count = (size_t)i + 1;
    }
    PQclear(result);
    return outcome;
}

//
// The durability of commits
//

static bool rows_text_is(const char *text, const char *what)
{
    return strcmp(text, what) == 0;
}

// synchronous_commit: off and local wait for no standby, and off not even for this server's disk.
static enum rows_outcome rows_durability(struct journal_rows *rows,
                                         struct rows_durability *durability)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct pg_args args = {0};
    PGresult *result;
    char commit[32], fsync[32], standbys[ROWS_WHY_MAX / 2];

    *durability = (struct rows_durability){0};
    if (outcome == ROWS_DONE) {
        outcome = db_run(&rl->db, CARE, &args, DB_LOOKS, &result);
    }
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    pg_field_text(result, 0, 0, commit, sizeof commit);
    pg_field_text(result, 0, 1, fsync, sizeof fsync);
    pg_field_text(result, 0, 2, standbys, sizeof standbys);
    PQclear(result);
    durability->commits_wait = !rows_text_is(commit, "off");
    durability->standbys_wait =
        durability->commits_wait && !rows_text_is(commit, "local") && standbys[0] != '\0';
    durability->fsync = !rows_text_is(fsync, "off");
    (void)snprintf(durability->text, sizeof durability->text,
                   "synchronous_commit=%s fsync=%s synchronous_standby_names='%s'", commit, fsync,
                   standbys);
    return ROWS_DONE;
}

//
// The table
//

static enum rows_outcome rows_wait(struct journal_rows *rows, nsec_t for_at_most)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    nsec_t until_at = nsec_add(db_now(), for_at_most > 0 ? for_at_most : 0);
    enum rows_outcome outcome = rows_begin(rl);

    if (outcome == ROWS_DONE) {
        outcome = db_listen(&rl->db, for_at_most);
    }
    // A caller that asks again at once would otherwise ask without end.
    if (outcome != ROWS_DONE && outcome != ROWS_STOPPED) {
        db_rest(&rl->db, until_at);
    }
    return outcome;
}

static const char *rows_why(const struct journal_rows *rows)
{
    return ((const struct rows_libpq *)(const void *)rows)->db.why;
}

static void rows_stop(struct journal_rows *rows)
{
    db_stop(&rows_libpq_of(rows)->db);
}

static void rows_resume(struct journal_rows *rows)
{
    db_resume(&rows_libpq_of(rows)->db);
}

static void rows_free(struct journal_rows *rows)
{
    struct rows_libpq *rl = rows_libpq_of(rows);

    db_close(&rl->db);
    free(rl->gathered);
    free(rl);
}

static const struct journal_rows_ops rows_libpq_ops = {
    .look = rows_look,
    .take = rows_take,
    .read = rows_read,
    .append = rows_add,
    .renew = rows_renew,
    .remove = rows_remove,
    .release = rows_release,
    .wait = rows_wait,
    .report = rows_report,
    .durability = rows_durability,
    .why = rows_why,
    .stop = rows_stop,
    .resume = rows_resume,
    .free = rows_free,
};

struct journal_rows *journal_rows_libpq_new(const struct rows_settings *settings)
{
    struct rows_libpq *rl = calloc(1, sizeof *rl);

    if (!rl) {
        return NULL;
    }
    rl->rows.ops = &rows_libpq_ops;
    rl->ttl_for = settings->ttl_for;
    if (schema_shard_is_sane(settings->shard)) {
        (void)snprintf(rl->shard, sizeof rl->shard, "%s", settings->shard);
    }
    (void)snprintf(rl->holder, sizeof rl->holder, "%s", settings->holder);
    (void)snprintf(rl->address, sizeof rl->address, "%s", settings->address);
    if (!db_init(&rl->db, settings->conninfo, settings->patience_for)) {
        rows_free(&rl->rows);
        return NULL;
    }
    (void)snprintf(rl->db.channel, sizeof rl->db.channel, "tandem_%s", rl->shard);
    return &rl->rows;
}
