/* SPDX-License-Identifier: MIT */
#include "journal/pg/rows_private.h"

#include <stdio.h>
#include <string.h>

//
// Rows
//

enum { ROW_UNIT, ROW_SEQ, ROW_EPOCH, ROW_BATCH };

struct reading {
    bool (*row)(void *context, const struct rows_row *row);
    void *context;
};

static bool take_row(void *context, const PGresult *result)
{
    const struct reading *reading = context;
    struct rows_row row = {
        .unit = (uint64_t)field_number(result, 0, ROW_UNIT),
        .seq = (uint64_t)field_number(result, 0, ROW_SEQ),
        .epoch = (uint64_t)field_number(result, 0, ROW_EPOCH),
        .bytes = PQgetvalue(result, 0, ROW_BATCH),
        .len = (size_t)PQgetlength(result, 0, ROW_BATCH),
    };

    return reading->row(reading->context, &row);
}

// Of the unit's own partition: a plan for all of them would hold all of them, and nobody could
// remove a unit while another is read.
enum rows_outcome rows_read(struct rows *rows, uint64_t unit, uint64_t after,
                            bool (*row)(void *context, const struct rows_row *row), void *context)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct reading reading = {.row = row, .context = context};
    struct args args = {0};
    char question[256];

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    (void)snprintf(question, sizeof question,
                   "SELECT unit, seq, epoch, batch FROM tandem.rows_%s_%u "
                   "WHERE unit = $1::bigint AND seq > $2::bigint ORDER BY seq",
                   rl->shard, (unsigned)(unit % ROWS_UNITS_MAX));
    args_number(&args, unit);
    args_number(&args, after);
    return db_stream(&rl->db, question, &args, take_row, &reading);
}

//
// Members
//

static void member_of(const PGresult *result, int row, struct rows_member *member)
{
    *member = (struct rows_member){
        .owner = field_bool(result, row, MEMBER_OWNER),
        .takes = field_bool(result, row, MEMBER_TAKES),
        .epoch = (uint64_t)field_number(result, row, MEMBER_EPOCH),
        .seq = (uint64_t)field_number(result, row, MEMBER_SEQ),
        .seen_for = field_number(result, row, MEMBER_SEEN) * NSEC_PER_USEC,
    };
    field_text(result, row, MEMBER_NODE, member->node, sizeof member->node);
    field_text(result, row, MEMBER_ADDRESS, member->address, sizeof member->address);
}

enum rows_outcome rows_report(struct rows *rows, const struct rows_member *own,
                              struct rows_member members[ROWS_MEMBERS_MAX], size_t *count)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct args args = {0};
    PGresult *result;

    *count = 0;
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    args_text(&args, rl->shard);
    args_text(&args, own->node);
    args_text(&args, own->address);
    args_number(&args, own->owner);
    args_number(&args, own->takes);
    args_number(&args, own->epoch);
    args_number(&args, own->seq);
    outcome = db_run(&rl->db, REPORT, &args, DB_LOOKS, &result);
    for (int i = 0; outcome == ROWS_DONE && i < PQntuples(result) && i < ROWS_MEMBERS_MAX; i++) {
        member_of(result, i, &members[i]);
        *count = (size_t)i + 1;
    }
    PQclear(result);
    return outcome;
}

//
// What a commit is worth
//

static bool is(const char *text, const char *what)
{
    return strcmp(text, what) == 0;
}

// synchronous_commit: off and local wait for no standby, and the first not even for this server.
enum rows_outcome rows_care(struct rows *rows, struct rows_care *care)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    enum rows_outcome outcome = rows_begin(rl);
    struct args args = {0};
    PGresult *result;
    char commit[32], fsync[32], standbys[ROWS_WHY_MAX / 2];

    *care = (struct rows_care){0};
    if (outcome == ROWS_DONE) {
        outcome = db_run(&rl->db, CARE, &args, DB_LOOKS, &result);
    }
    if (outcome != ROWS_DONE) {
        return outcome;
    }
    field_text(result, 0, 0, commit, sizeof commit);
    field_text(result, 0, 1, fsync, sizeof fsync);
    field_text(result, 0, 2, standbys, sizeof standbys);
    PQclear(result);
    care->commits_wait = !is(commit, "off");
    care->standbys_wait = care->commits_wait && !is(commit, "local") && standbys[0] != '\0';
    care->fsync = !is(fsync, "off");
    (void)snprintf(care->text, sizeof care->text,
                   "synchronous_commit=%s fsync=%s synchronous_standby_names='%s'", commit, fsync,
                   standbys);
    return ROWS_DONE;
}
