/* SPDX-License-Identifier: MIT */
#include "tests/journal/pg/fake_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//
// The database
//

struct fake_db *fake_db_new(void)
{
    struct fake_db *db = calloc(1, sizeof *db);

    ENSURE(db);
    db->now = NSEC_PER_SEC;
    db->lease.oldest = 1;
    return db;
}

static void drop_rows(struct fake_db *db, size_t from, size_t count)
{
    if (count == 0) {
        return;
    }
    for (size_t i = from; i < from + count; i++) {
        free(db->rows[i].bytes);
    }
    memmove(db->rows + from, db->rows + from + count,
            (db->count - from - count) * sizeof *db->rows);
    db->count -= count;
}

void fake_db_free(struct fake_db *db)
{
    drop_rows(db, 0, db->count);
    free(db->rows);
    free(db);
}

static void copy_rows(struct fake_db *to, const struct fake_db *from)
{
    to->rows = calloc(from->count + 1, sizeof *to->rows);
    ENSURE(to->rows);
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++) {
        to->rows[i] = from->rows[i];
        to->rows[i].bytes = malloc(from->rows[i].len);
        ENSURE(to->rows[i].bytes);
        memcpy(to->rows[i].bytes, from->rows[i].bytes, from->rows[i].len);
    }
}

struct fake_db *fake_db_copy(const struct fake_db *db)
{
    struct fake_db *copy = fake_db_new();

    *copy = *db;
    copy_rows(copy, db);
    return copy;
}

void fake_db_restore(struct fake_db *db, const struct fake_db *copy)
{
    drop_rows(db, 0, db->count);
    free(db->rows);
    copy_rows(db, copy);
    db->lease = copy->lease;
    db->expires_at = copy->expires_at;
}

size_t fake_db_rows_of(const struct fake_db *db, uint64_t unit)
{
    size_t count = 0;

    for (size_t i = 0; i < db->count; i++) {
        count += db->rows[i].unit == unit;
    }
    return count;
}

static void sum_up(struct fake_db *db)
{
    const struct fake_row *last = db->count ? &db->rows[db->count - 1] : NULL;

    db->lease.unit = last ? last->unit : 0;
    db->lease.seq = last ? last->seq : 0;
}

void fake_db_lose_rows(struct fake_db *db, size_t count)
{
    drop_rows(db, db->count - count, count);
    sum_up(db);
}

// No two units may be in one table, of which there are ROWS_UNITS_MAX.
static void check_tables(struct fake_db *db)
{
    uint64_t in[ROWS_UNITS_MAX] = {0};
    size_t units = 0;

    for (size_t i = 0; i < db->count; i++) {
        uint64_t unit = db->rows[i].unit;
        uint64_t *table = &in[unit % ROWS_UNITS_MAX];

        ENSURE(*table == 0 || *table == unit);
        units += *table == 0;
        *table = unit;
    }
    db->most_units = units > db->most_units ? units : db->most_units;
}

static void add_row(struct fake_db *db, const struct rows_new *row, uint64_t epoch)
{
    struct fake_row *added;
    size_t at = 0;

    ENSURE(row->seq == db->lease.seq + 1 && row->unit >= db->lease.unit && row->len > 0 &&
           row->len <= ROWS_BYTES_MAX);
    db->rows = realloc(db->rows, (db->count + 1) * sizeof *db->rows);
    ENSURE(db->rows);
    added = &db->rows[db->count++];
    *added = (struct fake_row){
        .unit = row->unit, .seq = row->seq, .epoch = epoch, .bytes = malloc(row->len)};
    ENSURE(added->bytes);
    for (int i = 0; i < row->count; i++) {
        memcpy(added->bytes + at, row->parts[i].iov_base, row->parts[i].iov_len);
        at += row->parts[i].iov_len;
    }
    ENSURE(at == row->len);
    added->len = at;
    sum_up(db);
    check_tables(db);
}

//
// A connection
//

static struct fake_rows *of(struct journal_rows *rows)
{
    return container_of(rows, struct fake_rows, rows);
}

void fake_rows_set_fate(struct fake_rows *rows, enum fake_fate fate, unsigned count)
{
    rows->fate = fate;
    rows->fate_at = rows->calls + 1;
    rows->fate_until = rows->calls + count;
}

// The outcome of a call that only reads.
static enum rows_outcome look_fate(const struct fake_rows *rows)
{
    if (rows->stopped) {
        return ROWS_STOPPED;
    }
    return rows->cut ? ROWS_AWAY : ROWS_DONE;
}

// The same of one that changes something. `*comes_about` says whether it does.
static enum rows_outcome change_fate(struct fake_rows *rows, bool *comes_about)
{
    enum rows_outcome outcome;
    bool fated;

    if (rows->changes) {
        rows->changes(rows->context);
    }
    outcome = look_fate(rows);
    rows->calls++;
    rows->db->calls++;
    fated = rows->calls >= rows->fate_at && rows->calls <= rows->fate_until;
    *comes_about = outcome == ROWS_DONE;
    if (outcome != ROWS_DONE || !fated) {
        return outcome;
    }
    *comes_about = rows->fate == FATE_NORMAL || rows->fate == FATE_DONE;
    switch (rows->fate) {
    case FATE_NORMAL:
        return ROWS_DONE;
    case FATE_AWAY:
        return ROWS_AWAY;
    case FATE_DONE:
    case FATE_UNDONE:
        return ROWS_DOUBT;
    case FATE_STOPPED:
        return ROWS_STOPPED;
    case FATE_REFUSED:
        return ROWS_REFUSED;
    case FATE_LOST:
        return ROWS_LOST;
    }
    UNREACHABLE();
}

static void tell_lease(const struct fake_db *db, struct rows_lease *lease)
{
    *lease = db->lease;
    lease->left_for = db->expires_at - db->now;
}

// The owner's view of the lease.
static enum rows_outcome judge_epoch(const struct fake_rows *fake, uint64_t epoch)
{
    const struct rows_lease *lease = &fake->db->lease;

    return lease->epoch == epoch && strcmp(lease->holder, fake->holder) == 0 && !lease->released
               ? ROWS_DONE
               : ROWS_LOST;
}

static enum rows_outcome judge_known(const struct fake_rows *fake, const struct rows_known *known)
{
    const struct rows_lease *lease = &fake->db->lease;

    if (judge_epoch(fake, known->epoch) != ROWS_DONE) {
        return ROWS_LOST;
    }
    return lease->seq == known->seq && lease->history == known->history ? ROWS_DONE : ROWS_DOUBT;
}

static enum rows_outcome fake_look(struct journal_rows *rows, struct rows_lease *lease)
{
    enum rows_outcome outcome = of(rows)->unlookable ? ROWS_REFUSED : look_fate(of(rows));

    if (outcome == ROWS_DONE) {
        tell_lease(of(rows)->db, lease);
    }
    return outcome;
}

static enum rows_outcome fake_take(struct journal_rows *rows, const struct rows_lease *seen,
                                   struct rows_lease *taken)
{
    struct fake_rows *fake = of(rows);
    struct fake_db *db = fake->db;
    bool comes_about;
    enum rows_outcome outcome = change_fate(fake, &comes_about);

    if (comes_about &&
        (db->lease.epoch != seen->epoch || strcmp(db->lease.holder, seen->holder) != 0 ||
         (db->lease.epoch > 0 && !db->lease.released && db->expires_at > db->now))) {
        return ROWS_LOST;
    }
    if (comes_about) {
        static uint64_t takings;

        // No two are at the same moment.
        db->lease.since_ms = ++takings;
        fake->used_ms = takings;
        db->lease.epoch++;
        db->lease.released = false;
        (void)snprintf(db->lease.holder, sizeof db->lease.holder, "%s", fake->holder);
        db->expires_at = db->now + fake->ttl_for;
        tell_lease(db, taken);
    }
    return outcome;
}

static enum rows_outcome fake_read(struct journal_rows *rows, uint64_t unit, uint64_t after,
                                   bool (*row)(void *context, const struct rows_row *row),
                                   void *context)
{
    struct fake_rows *fake = of(rows);
    enum rows_outcome outcome;

    if (fake->reads) {
        fake->reads(fake->context, unit);
    }
    outcome = fake->unreadable ? ROWS_REFUSED : look_fate(fake);
    for (size_t i = 0; outcome == ROWS_DONE && i < fake->db->count; i++) {
        const struct fake_row *kept = &fake->db->rows[i];
        const struct rows_row told = {.unit = kept->unit,
                                      .seq = kept->seq,
                                      .epoch = kept->epoch,
                                      .bytes = kept->bytes,
                                      .len = kept->len};

        if (kept->unit == unit && kept->seq > after && !row(context, &told)) {
            break;
        }
    }
    return outcome;
}

static enum rows_outcome fake_append(struct journal_rows *rows, const struct rows_append *append)
{
    struct fake_rows *fake = of(rows);
    bool comes_about;
    enum rows_outcome outcome = change_fate(fake, &comes_about);

    if (fake->unaddable) {
        return ROWS_REFUSED;
    }
    if (comes_about && judge_known(fake, &append->known) != ROWS_DONE) {
        return outcome == ROWS_DONE ? judge_known(fake, &append->known) : outcome;
    }
    if (comes_about) {
        for (size_t i = 0; i < append->count; i++) {
            add_row(fake->db, &append->rows[i], append->known.epoch);
        }
        fake->db->lease.history = append->history;
        fake->used_ms = fake->db->lease.since_ms;
        fake->db->expires_at = fake->db->now + fake->ttl_for;
        fake->tellings += append->tell;
    }
    return outcome;
}

static enum rows_outcome fake_renew(struct journal_rows *rows, uint64_t epoch,
                                    struct rows_lease *lease)
{
    struct fake_rows *fake = of(rows);
    bool comes_about;
    enum rows_outcome outcome = change_fate(fake, &comes_about);

    if (comes_about && judge_epoch(fake, epoch) != ROWS_DONE) {
        return outcome == ROWS_DONE ? ROWS_LOST : outcome;
    }
    if (comes_about) {
        fake->db->expires_at = fake->db->now + fake->ttl_for;
        tell_lease(fake->db, lease);
    }
    return outcome;
}

static enum rows_outcome fake_remove(struct journal_rows *rows, const struct rows_known *known,
                                     uint64_t unit)
{
    struct fake_rows *fake = of(rows);
    struct fake_db *db = fake->db;
    bool comes_about;
    enum rows_outcome outcome = change_fate(fake, &comes_about);

    if (comes_about && judge_known(fake, known) != ROWS_DONE) {
        return outcome == ROWS_DONE ? judge_known(fake, known) : outcome;
    }
    if (fake->unremovable) {
        return ROWS_AWAY;
    }
    if (comes_about && unit >= db->lease.oldest) {
        size_t count = 0;

        while (count < db->count && db->rows[count].unit <= unit) {
            count++;
        }
        drop_rows(db, 0, count);
        db->lease.oldest = unit + 1;
    }
    return outcome;
}

static enum rows_outcome fake_release(struct journal_rows *rows, const struct rows_known *known)
{
    struct fake_rows *fake = of(rows);
    bool comes_about;
    enum rows_outcome outcome = change_fate(fake, &comes_about);

    if (comes_about && judge_known(fake, known) != ROWS_DONE) {
        return outcome == ROWS_DONE ? judge_known(fake, known) : outcome;
    }
    fake->db->lease.released |= comes_about;
    return outcome;
}

static enum rows_outcome fake_wait(struct journal_rows *rows, nsec_t for_at_most)
{
    struct fake_rows *fake = of(rows);

    if (fake->waits) {
        fake->waits(fake->context, for_at_most);
    }
    return look_fate(fake);
}

static enum rows_outcome fake_report(struct journal_rows *rows, const struct rows_member *own,
                                     struct rows_member members[ROWS_MEMBERS_MAX], size_t *count)
{
    members[0] = *own;
    *count = 1;
    return look_fate(of(rows));
}

static enum rows_outcome fake_care(struct journal_rows *rows, struct rows_durability *care)
{
    *care = (struct rows_durability){.commits_wait = true,
                                     .standbys_wait = !of(rows)->unreplicated,
                                     .fsync = !of(rows)->unsynced};
    (void)snprintf(care->text, sizeof care->text, "standbys_wait=%d fsync=%d", care->standbys_wait,
                   care->fsync);
    return of(rows)->careless ? ROWS_AWAY : look_fate(of(rows));
}

static const char *fake_why(const struct journal_rows *rows)
{
    (void)rows;
    return "as the test wished";
}

static void fake_stop(struct journal_rows *rows)
{
    of(rows)->stopped = true;
}

static void fake_resume(struct journal_rows *rows)
{
    of(rows)->stopped = false;
}

static void fake_free(struct journal_rows *rows)
{
    free(of(rows));
}

static const struct journal_rows_ops ops = {
    .look = fake_look,
    .take = fake_take,
    .read = fake_read,
    .append = fake_append,
    .renew = fake_renew,
    .remove = fake_remove,
    .release = fake_release,
    .wait = fake_wait,
    .report = fake_report,
    .durability = fake_care,
    .why = fake_why,
    .stop = fake_stop,
    .resume = fake_resume,
    .free = fake_free,
};

struct fake_rows *fake_rows_new(struct fake_db *db, const char *holder, nsec_t ttl_for)
{
    struct fake_rows *fake = calloc(1, sizeof *fake);

    ENSURE(fake);
    *fake = (struct fake_rows){.rows = {&ops}, .db = db, .holder = holder, .ttl_for = ttl_for};
    return fake;
}
