/* SPDX-License-Identifier: MIT */

// How those who share a journal know of each other, and what the database makes of a commit.

#include "journal/pg/pg.h"

#include "core/base/log.h"

#include <stdio.h>
#include <string.h>

// How often the settings of the database are looked at.
#define JUDGE_EVERY_FOR (60 * NSEC_PER_SEC)

static bool is_weak(const struct pg *pg, const struct rows_care *care)
{
    return pg->settings.demand != PG_DEMAND_NOTHING &&
           (!rows_care_durable(care) || !care->standbys_wait);
}

// Whether that is other than at the last look.
static bool is_news(struct pg *pg, const struct rows_care *care)
{
    struct outlook_shown *shown = &pg->shown;

    outlook_look(&pg->outlook, shown);
    return strcmp(shown->care.text, care->text) != 0;
}

bool pg_judge(struct pg *pg, char *why, size_t size)
{
    struct rows_care care;

    pg->link.judged_at = pg->settings.boot();
    if (pg_ops(pg)->care(pg->settings.rows, &care) != ROWS_DONE) {
        // It is looked at again.
        pg->link.judged_at = 0;
        return true;
    }
    if (is_news(pg, &care) && is_weak(pg, &care)) {
        log_warn("database_care", log_string("shard", pg->settings.shard),
                 log_string("settings", care.text),
                 log_string("note", "what is acknowledged may be lost with a server of the "
                                    "database"));
    }
    outlook_set_care(&pg->outlook, &care);
    (void)snprintf(why, size, "require_quorum: the database does not wait for another server: %s",
                   care.text);
    return pg->settings.demand != PG_DEMAND_QUORUM || !is_weak(pg, &care);
}

bool pg_is_judged(const struct pg *pg)
{
    return pg->link.judged_at != 0 || pg->settings.demand != PG_DEMAND_QUORUM;
}

void pg_report(struct pg *pg, uint64_t seq, bool owner)
{
    struct rows_member own = {
        .owner = owner, .takes = pg->settings.takes, .epoch = pg->link.epoch, .seq = seq};
    struct rows_member members[ROWS_MEMBERS_MAX];
    enum rows_outcome outcome;
    size_t count = 0;
    char unused[ROWS_WHY_MAX];

    (void)snprintf(own.node, sizeof own.node, "%s", pg->settings.node);
    (void)snprintf(own.address, sizeof own.address, "%s", pg->settings.address);
    outcome = pg_ops(pg)->report(pg->settings.rows, &own, members, &count);
    // Those of before are known no more.
    if (outcome == ROWS_DONE || outcome == ROWS_REFUSED) {
        outlook_set_members(&pg->outlook, members, outcome == ROWS_DONE ? count : 0);
    }
    if (outcome == ROWS_REFUSED && !pg->link.unreported) {
        log_warn("report_refused", log_string("shard", pg->settings.shard),
                 log_string("why", pg_ops(pg)->why(pg->settings.rows)),
                 log_string("note", "others do not know of this process: nothing is handed over"));
    }
    pg->link.unreported = outcome == ROWS_REFUSED;
    if (pg->link.judged_at == 0 || pg->settings.boot() - pg->link.judged_at > JUDGE_EVERY_FOR) {
        (void)pg_judge(pg, unused, sizeof unused);
    }
}
