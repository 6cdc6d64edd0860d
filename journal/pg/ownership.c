/* SPDX-License-Identifier: MIT */

// Ownership as this process knows it, and how processes that share a journal know of each other.

#include "core/base/log.h"
#include "journal/pg/pg_private.h"

#include <stdio.h>
#include <string.h>

static struct ownership_snapshot *ownership_lock(struct ownership *ownership)
{
    (void)pthread_mutex_lock(&ownership->mutex);
    return &ownership->now;
}

static void ownership_unlock(struct ownership *ownership)
{
    (void)pthread_mutex_unlock(&ownership->mutex);
}

void ownership_init(struct ownership *ownership)
{
    memset(&ownership->now, 0, sizeof ownership->now);
    (void)pthread_mutex_init(&ownership->mutex, NULL);
}

void ownership_clear(struct ownership *ownership)
{
    (void)pthread_mutex_destroy(&ownership->mutex);
}

void ownership_set_role(struct ownership *ownership, enum ownership_role role)
{
    ownership_lock(ownership)->role = role;
    ownership_unlock(ownership);
}

void ownership_set_lease(struct ownership *ownership, const struct rows_lease *lease, nsec_t at)
{
    struct ownership_snapshot *shown = ownership_lock(ownership);

    shown->lease = *lease;
    shown->lease_at = at;
    ownership_unlock(ownership);
}

void ownership_set_seq(struct ownership *ownership, uint64_t seq)
{
    ownership_lock(ownership)->seq = seq;
    ownership_unlock(ownership);
}

static void ownership_set_members(struct ownership *ownership, const struct rows_member *members,
                                  size_t count)
{
    struct ownership_snapshot *shown = ownership_lock(ownership);

    memcpy(shown->members, members, count * sizeof *members);
    shown->count = count;
    ownership_unlock(ownership);
}

static void ownership_set_durability(struct ownership *ownership,
                                     const struct rows_durability *durability)
{
    ownership_lock(ownership)->durability = *durability;
    ownership_unlock(ownership);
}

static void ownership_set_unreachable(struct ownership *ownership, const char *why)
{
    struct ownership_snapshot *shown = ownership_lock(ownership);

    shown->connected = why == NULL;
    (void)snprintf(shown->why, sizeof shown->why, "%s", why ? why : "");
    ownership_unlock(ownership);
}

void ownership_read(struct ownership *ownership, struct ownership_snapshot *shown)
{
    *shown = *ownership_lock(ownership);
    ownership_unlock(ownership);
}

enum ownership_role ownership_role(struct ownership *ownership)
{
    enum ownership_role role = ownership_lock(ownership)->role;

    ownership_unlock(ownership);
    return role;
}

// Answers are sent for a shorter time than the lease lasts, by this share: clocks do not run
// equally fast.
enum { MARGIN_SHARE = 10 };

void pg_claim(struct pg *pg, nsec_t asked_at)
{
    fence_move(&pg->fence, asked_at + pg->settings.ttl_for - pg->settings.ttl_for / MARGIN_SHARE);
}

void pg_lose(struct pg *pg)
{
    fence_move(&pg->fence, 0);
    ownership_set_role(&pg->ownership, OWNERSHIP_LOST);
}

void pg_note_unfit(struct pg *pg, const char *why)
{
    ownership_set_unreachable(&pg->ownership, why);
    if (!pg->link.away) {
        log_warn("database_away", log_string("shard", pg->settings.shard), log_string("why", why));
    }
    pg->link.away = true;
}

void pg_note_away(struct pg *pg)
{
    pg_note_unfit(pg, pg_ops(pg)->why(pg->settings.rows));
}

void pg_note_back(struct pg *pg)
{
    ownership_set_unreachable(&pg->ownership, NULL);
    if (pg->link.away) {
        log_info("database_back", log_string("shard", pg->settings.shard));
    }
    pg->link.away = false;
}

void pg_note_loss(struct pg *pg, const struct rows_lease *found, uint64_t expected)
{
    log_error(
        "database_lost_rows", log_string("shard", pg->settings.shard),
        log_number("expected", (int64_t)expected), log_number("found", (int64_t)found->seq),
        log_number("history", (int64_t)found->history),
        log_string("note", "the database was not replicated; all live jobs are being rewritten"));
    pg->link.found = *found;
    pg->link.rows_lost = true;
}

// How often the settings of the database are read.
#define JUDGE_EVERY_FOR (60 * NSEC_PER_SEC)

static bool pg_is_weak(const struct pg *pg, const struct rows_durability *durability)
{
    return pg->settings.demand != PG_DEMAND_NOTHING &&
           (!rows_commits_are_durable(durability) || !durability->standbys_wait);
}

// Whether the settings have changed since they were read last.
static bool pg_has_new_settings(struct pg *pg, const struct rows_durability *durability)
{
    struct ownership_snapshot *shown = &pg->shown;

    ownership_read(&pg->ownership, shown);
    return strcmp(shown->durability.text, durability->text) != 0;
}

bool pg_judge(struct pg *pg, char *why, size_t size)
{
    struct rows_durability durability;

    pg->link.judged_at = pg->settings.boot();
    if (pg_ops(pg)->durability(pg->settings.rows, &durability) != ROWS_DONE) {
        // They are read again.
        pg->link.judged_at = 0;
        return true;
    }
    if (pg_has_new_settings(pg, &durability) && pg_is_weak(pg, &durability)) {
        log_warn(
            "database_care", log_string("shard", pg->settings.shard),
            log_string("settings", durability.text),
            log_string("note", "acknowledged jobs may be lost with one server of the database"));
    }
    ownership_set_durability(&pg->ownership, &durability);
    (void)snprintf(why, size, "require_quorum: the database does not wait for another server: %s",
                   durability.text);
    return pg->settings.demand != PG_DEMAND_QUORUM || !pg_is_weak(pg, &durability);
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
    // The members known before are outdated.
    if (outcome == ROWS_DONE || outcome == ROWS_REFUSED) {
        ownership_set_members(&pg->ownership, members, outcome == ROWS_DONE ? count : 0);
    }
    if (outcome == ROWS_REFUSED && !pg->link.unreported) {
        log_warn(
            "report_refused", log_string("shard", pg->settings.shard),
            log_string("why", pg_ops(pg)->why(pg->settings.rows)),
            log_string("note",
                       "other processes do not know this one: ownership is not handed over to it"));
    }
    pg->link.unreported = outcome == ROWS_REFUSED;
    if (pg->link.judged_at == 0 || pg->settings.boot() - pg->link.judged_at > JUDGE_EVERY_FOR) {
        (void)pg_judge(pg, unused, sizeof unused);
    }
}
