/* SPDX-License-Identifier: MIT */
#include "journal/pg/rows_libpq.h"

#include "journal/pg/rows_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum rows_outcome wait_rows(struct rows *rows, nsec_t for_at_most)
{
    struct rows_libpq *rl = rows_libpq_of(rows);
    nsec_t until_at = nsec_add(db_now(), for_at_most > 0 ? for_at_most : 0);
    enum rows_outcome outcome = rows_begin(rl);

    if (outcome == ROWS_DONE) {
        outcome = db_listen(&rl->db, for_at_most);
    }
    // Whoever asks again right away would ask without end.
    if (outcome != ROWS_DONE && outcome != ROWS_STOPPED) {
        db_rest(&rl->db, until_at);
    }
    return outcome;
}

static const char *why_rows(const struct rows *rows)
{
    return ((const struct rows_libpq *)(const void *)rows)->db.why;
}

static void stop_rows(struct rows *rows)
{
    db_stop(&rows_libpq_of(rows)->db);
}

static void resume_rows(struct rows *rows)
{
    db_resume(&rows_libpq_of(rows)->db);
}

static void free_rows(struct rows *rows)
{
    struct rows_libpq *rl = rows_libpq_of(rows);

    db_close(&rl->db);
    free(rl->gathered);
    free(rl);
}

static const struct rows_ops ops = {
    .look = rows_look,
    .take = rows_take,
    .read = rows_read,
    .append = rows_add,
    .renew = rows_renew,
    .remove = rows_remove,
    .release = rows_release,
    .wait = wait_rows,
    .report = rows_report,
    .care = rows_care,
    .why = why_rows,
    .stop = stop_rows,
    .resume = resume_rows,
    .free = free_rows,
};

struct rows *rows_libpq_new(const struct rows_settings *settings)
{
    struct rows_libpq *rl = calloc(1, sizeof *rl);

    if (!rl) {
        return NULL;
    }
    rl->rows.ops = &ops;
    rl->ttl_for = settings->ttl_for;
    if (schema_shard_is_sane(settings->shard)) {
        (void)snprintf(rl->shard, sizeof rl->shard, "%s", settings->shard);
    }
    (void)snprintf(rl->holder, sizeof rl->holder, "%s", settings->holder);
    (void)snprintf(rl->address, sizeof rl->address, "%s", settings->address);
    if (!db_init(&rl->db, settings->conninfo, settings->patience_for)) {
        free_rows(&rl->rows);
        return NULL;
    }
    (void)snprintf(rl->db.channel, sizeof rl->db.channel, "tandem_%s", rl->shard);
    return &rl->rows;
}
