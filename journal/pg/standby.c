/* SPDX-License-Identifier: MIT */

// A standby: opening follows the owner until this process becomes the owner. And closing: gives up
// the lease, so that another process need not wait until it expires.

#include "core/base/log.h"
#include "core/restore.h"
#include "journal/pg/follow.h"

#include <string.h>

// The delay after a database could not be reached.
#define AWAY_FOR (500 * NSEC_PER_MSEC)
// Most objects that are examined for tidying at a time.
enum { TIDY_AT_A_TIME = 4096 };

// A process that does not own the journal yet.
struct pg_standby {
    struct journal *journal;
    struct pg *pg;
    struct error_text *why;
    struct follow follow;
    struct rows_lease lease;
    nsec_t began_at;    // by the boot-time clock, like all times here
    nsec_t reported_at; //
    uint64_t yields_to; // does not take the lease after this epoch, for one ttl
    bool reached;       // the database has answered, and its settings are known
    bool kept_from;     // the lease was free, but could not or must not be taken
    bool unfit;         // the database does not wait for a quorum
    bool replayed;      // all existing rows were read once, and that was logged
};

static nsec_t standby_now(const struct pg_standby *standby)
{
    return standby->pg->settings.boot();
}

static bool standby_stops(const struct pg_standby *standby)
{
    return progress_stops(&standby->journal->progress);
}

static bool standby_complain(const struct pg_standby *standby, const char *text)
{
    return error_set(standby->why, "%s", text);
}

// The database has failed; false if it is useless to ask again.
static bool standby_wait_for_database(struct pg_standby *standby, enum rows_outcome outcome)
{
    struct journal_rows *rows = standby->pg->settings.rows;

    if (outcome == ROWS_REFUSED && !standby->reached && !standby->pg->settings.again) {
        return standby_complain(standby, rows->ops->why(rows));
    }
    if (!standby_stops(standby)) {
        pg_note_away(standby->pg);
        (void)rows->ops->wait(rows, AWAY_FOR);
    }
    return true;
}

static bool standby_lease_is_free(const struct pg_standby *standby)
{
    const struct rows_lease *lease = &standby->lease;

    return lease->epoch == 0 || lease->released ||
           lease->left_for <= standby_now(standby) - standby->follow.looked_at;
}

static void standby_note_lease(struct pg_standby *standby, nsec_t asked_at)
{
    struct pg *pg = standby->pg;

    standby->follow.looked_at = asked_at;
    pg->link.epoch = standby->lease.epoch;
    ownership_set_lease(&pg->ownership, &standby->lease, asked_at);
    if (!standby->reached && !standby->unfit) {
        pg_note_back(pg);
    }
}

// The database has answered all questions of this step.
static void standby_note_all_good(struct pg_standby *standby)
{
    standby->kept_from &= standby_lease_is_free(standby);
    if (!standby->kept_from) {
        pg_note_back(standby->pg);
    }
}

// Reads the settings of the database before any client is served.
static bool standby_check_settings(struct pg_standby *standby)
{
    char why[ROWS_DURABILITY_TEXT_MAX + 80];

    if (standby->reached) {
        return true;
    }
    // Once another process has had the lease, this one no longer yields.
    standby->yields_to =
        standby->pg->settings.yields && standby_lease_is_free(standby) ? standby->lease.epoch : 0;
    standby->unfit = !pg_judge(standby->pg, why, sizeof why);
    if (standby->unfit && !standby->pg->settings.again) {
        return standby_complain(standby, why);
    }
    if (standby->unfit) {
        pg_note_unfit(standby->pg, why);
    }
    standby->reached = !standby->unfit && pg_is_judged(standby->pg);
    return true;
}

// The settings may have changed since they were read last.
static bool standby_is_fit(struct pg_standby *standby)
{
    char why[ROWS_DURABILITY_TEXT_MAX + 80];

    if (standby->pg->settings.demand != PG_DEMAND_QUORUM) {
        return true;
    }
    if (!pg_judge(standby->pg, why, sizeof why)) {
        standby->kept_from = true;
        pg_note_unfit(standby->pg, why);
        return false;
    }
    return pg_is_judged(standby->pg);
}

//
// Reading
//

static void standby_log_replayed(struct pg_standby *standby)
{
    struct broker_info info;

    if (standby->replayed) {
        return;
    }
    standby->replayed = true;
    broker_info(standby->journal->broker, &info);
    log_info("journal_replayed",
             log_number("jobs", (int64_t)(info.jobs[JOB_READY] + info.jobs[JOB_DELAYED] +
                                          info.jobs[JOB_BURIED])),
             log_number("records", (int64_t)standby->follow.records),
             log_number("segments", (int64_t)standby->journal->segments.list.count),
             log_number("bytes", (int64_t)segments_bytes(&standby->journal->segments)),
             log_number("ms", (standby_now(standby) - standby->began_at) / NSEC_PER_MSEC));
}

// Reads the existing rows. False if opening ends; `*away`: they could not be read.
static bool standby_read(struct pg_standby *standby, bool *away)
{
    struct broker *broker = standby->journal->broker;

    *away = false;
    switch (follow_rows(&standby->follow, &standby->lease)) {
    case FOLLOW_DONE:
        broker_restore_now(broker, standby->pg->settings.clock());
        while (!broker_restore_tidy(broker, TIDY_AT_A_TIME) && !standby_stops(standby)) {
        }
        standby_log_replayed(standby);
        return true;
    case FOLLOW_AWAY:
        *away = true;
        // A refusal from the beginning is a matter of rights.
        if (standby->follow.refused && !standby->replayed && !standby->pg->settings.again) {
            return standby_complain(standby, pg_ops(standby->pg)->why(standby->pg->settings.rows));
        }
        return standby_wait_for_database(standby, ROWS_AWAY);
    case FOLLOW_FAILED:
        return false;
    case FOLLOW_ASTRAY:
        pg_lose(standby->pg);
        return standby_complain(standby,
                                "the database has lost rows that were read, and another process "
                                "goes on without them");
    case FOLLOW_STOPPED:
        *away = true;
        return true;
    }
    UNREACHABLE();
}

//
// Taking
//

// After a handover, other processes take the lease first.
static bool standby_yields(const struct pg_standby *standby)
{
    return standby->yields_to > 0 && standby->lease.epoch == standby->yields_to &&
           standby_now(standby) - standby->began_at < standby->pg->settings.ttl_for;
}

// After a lost answer: the holder's name tells who has the lease.
static enum rows_outcome standby_find_holder(struct pg_standby *standby,
                                             const struct rows_lease *seen,
                                             struct rows_lease *taken)
{
    struct journal_rows *rows = standby->pg->settings.rows;
    enum rows_outcome outcome = rows->ops->look(rows, taken);

    if (outcome == ROWS_DONE && (taken->epoch != seen->epoch + 1 ||
                                 strcmp(taken->holder, standby->pg->settings.node) != 0)) {
        outcome = ROWS_LOST;
    }
    return outcome;
}

static enum rows_outcome standby_take(struct pg_standby *standby)
{
    struct journal_rows *rows = standby->pg->settings.rows;
    nsec_t asked_at = standby_now(standby);
    struct rows_lease taken;
    enum rows_outcome outcome = rows->ops->take(rows, &standby->lease, &taken);

    if (outcome == ROWS_DOUBT) {
        outcome = standby_find_holder(standby, &standby->lease, &taken);
    }
    standby->kept_from = outcome != ROWS_DONE && outcome != ROWS_LOST;
    if (outcome == ROWS_DONE) {
        follow_note_taking(&standby->follow, &standby->lease);
        standby->lease = taken;
        standby_note_lease(standby, asked_at);
        pg_note_back(standby->pg);
        pg_claim(standby->pg, asked_at);
    }
    return outcome;
}

// Reads the last rows of the former owner, which can add no more.
static bool standby_read_rest(struct pg_standby *standby)
{
    bool away = true;

    while (away && !standby_stops(standby)) {
        if (!standby_read(standby, &away)) {
            return false;
        }
    }
    return !away || standby_complain(standby, "stopped");
}

//
// Following
//

static void standby_report(struct pg_standby *standby)
{
    if (standby_now(standby) - standby->reported_at >= follow_look_every(standby->pg)) {
        standby->reported_at = standby_now(standby);
        pg_report(standby->pg, standby->follow.seq, false);
    }
}

static void standby_rest(struct pg_standby *standby)
{
    struct journal_rows *rows = standby->pg->settings.rows;
    nsec_t left_for = standby->lease.left_for - (standby_now(standby) - standby->follow.looked_at);
    nsec_t most_for = follow_look_every(standby->pg);

    if (left_for > 0 && left_for < most_for && standby->pg->settings.takes) {
        most_for = left_for;
    }
    (void)rows->ops->wait(rows, most_for);
}

// One step: reads the lease and the rows, and takes the lease if it is free. False if opening ends;
// `*owns`: successfully.
static bool standby_step(struct pg_standby *standby, bool *owns)
{
    struct journal_rows *rows = standby->pg->settings.rows;
    nsec_t asked_at = standby_now(standby);
    enum rows_outcome outcome = rows->ops->look(rows, &standby->lease);
    bool away = false;

    if (outcome != ROWS_DONE) {
        return standby_wait_for_database(standby, outcome);
    }
    standby_note_lease(standby, asked_at);
    if (!standby_check_settings(standby)) {
        return false;
    }
    if (standby->unfit) {
        (void)rows->ops->wait(rows, AWAY_FOR);
        return true;
    }
    if (!standby->reached) {
        return standby_wait_for_database(standby, ROWS_AWAY);
    }
    if (!standby_read(standby, &away)) {
        return false;
    }
    if (away) {
        return true;
    }
    standby_note_all_good(standby);
    ownership_set_role(&standby->pg->ownership, OWNERSHIP_STANDBY);
    standby_report(standby);
    if (!standby->pg->settings.takes || !standby_lease_is_free(standby) ||
        standby_yields(standby) || !standby_is_fit(standby)) {
        standby_rest(standby);
        return true;
    }
    outcome = standby_take(standby);
    *owns = outcome == ROWS_DONE;
    // If another process was faster, the lease is read again at once.
    return !*owns && (outcome == ROWS_LOST || standby_wait_for_database(standby, outcome));
}

// Empty units that the former owner did not remove are still to be removed.
static bool standby_continue_removal(struct pg_standby *standby)
{
    struct segments *segments = &standby->journal->segments;

    if (segments->list.count == 0 || segments->list.first <= standby->lease.oldest) {
        return true;
    }
    segments->removing = segment_new(segments->list.first - 1, 0);
    if (!segments->removing) {
        return standby_complain(standby, "out of memory");
    }
    segment_set_state(segments->removing, SEGMENT_PUBLISHED);
    segment_set_state(segments->removing, SEGMENT_REMOVING);
    return true;
}

// Takes over the state of the rows: the former owner may not have completed a rewrite, and the
// database may have lost rows that were read.
static void standby_note_state(struct pg_standby *standby)
{
    struct pg *pg = standby->pg;
    const struct follow *follow = &standby->follow;
    const struct rows_lease *lease = &standby->lease;

    pg->owner = pg_draw_salt(standby->journal);
    pg->oldest = lease->oldest;
    pg->history = lease->history > follow->history ? lease->history : follow->history;
    pg->link.seq = lease->seq;
    pg->link.history = lease->history;
    pg->link.doubt = false;
    standby->journal->segments.rewrite_from = follow->rewrite_from;
    if (follow->ahead) {
        pg_note_loss(pg, lease, follow->seq);
    }
    if (segments_need_rewrite(&standby->journal->segments)) {
        log_warn("journal_unsound", log_number("below", (int64_t)follow->rewrite_from),
                 log_string("note", "rows were lost; live content is being rewritten"));
    }
}

static bool standby_become_owner(struct pg_standby *standby, struct restored *restored)
{
    bool owns = false;

    while (!standby_stops(standby) && standby_step(standby, &owns)) {
    }
    if (!owns || !standby_read_rest(standby)) {
        return !standby_stops(standby) ? false : standby_complain(standby, "stopped");
    }
    if (!standby_continue_removal(standby)) {
        return false;
    }
    standby_note_state(standby);
    *restored = (struct restored){.ids_end = standby->follow.seen.ids_end +
                                             (standby->follow.damaged ? IDS_LOST : 0),
                                  .damaged = standby->follow.damaged};
    return true;
}

bool pg_open(struct journal *journal, struct restored *restored, struct error_text *why)
{
    struct pg_standby standby = {.journal = journal, .pg = pg_of(journal), .why = why};
    bool good;

    standby.began_at = standby_now(&standby);
    standby.reported_at = standby.began_at - NSEC_PER_SEC;
    standby.follow.journal = journal;
    standby.follow.why = why;
    good = standby_become_owner(&standby, restored);
    follow_clear(&standby.follow);
    return good;
}

static bool pg_begin_rewrite(struct journal *journal, struct segment *next)
{
    if (!pg_can_rewrite(journal)) {
        segment_free(next);
        return false;
    }
    pg_rewrite(journal, next);
    return true;
}

// With many units, the youngest one is continued: its end is never torn. A standby that has
// followed a process which did so, and has read rows that are lost, finds another history.
static void pg_continue_youngest(struct journal *journal)
{
    struct segment_list *segments = &journal->segments.list;
    struct pg *pg = pg_of(journal);

    journal->segments.current = segments->items[segments->count - 1];
    journal->segments.current->size = PG_UNIT_SIZE;
    pg->history++;
    journal->segments.current->history = (uint32_t)pg->history;
    segments_recount(&journal->segments);
}

bool pg_begin(struct journal *journal, struct error_text *why)
{
    struct segment_list *segments = &journal->segments.list;
    struct pg *pg = pg_of(journal);
    bool begun = true;

    if (!pg->link.rows_lost && pg_units(journal) >= UNITS_FULL_AT_START &&
        segments->items[segments->count - 1]->salt != 0) {
        pg_continue_youngest(journal);
    } else if (!segment_list_make_room(segments) || !pg_make_spare(journal)) {
        begun = false;
    } else if (pg->link.rows_lost) {
        begun = pg_begin_rewrite(journal, pg_take_spare(journal));
    } else {
        pg_follow(journal, pg_take_spare(journal));
    }
    if (!begun) {
        return error_set(why, "out of memory, or no table is free for another unit");
    }
    ownership_set_role(&pg->ownership, OWNERSHIP_OWNER);
    return true;
}

//
// Closing
//

static void pg_note_lease_kept(const struct pg *pg)
{
    log_warn("lease_kept", log_string("shard", pg->settings.shard),
             log_string("why", pg_ops(pg)->why(pg->settings.rows)),
             log_string("note", "other processes wait until it expires"));
}

// An opening may have been stopped just when it got the lease: nothing was added since.
void pg_let_go(struct journal *journal)
{
    struct pg *pg = pg_of(journal);
    struct journal_rows *rows = pg->settings.rows;
    struct rows_known known = {.epoch = pg->link.epoch};
    struct rows_lease lease;

    rows->ops->resume(rows);
    fence_move(&pg->fence, 0);
    if (rows->ops->renew(rows, known.epoch, &lease) == ROWS_DONE) {
        known.seq = lease.seq;
        known.history = lease.history;
    }
    if (rows->ops->release(rows, &known) != ROWS_DONE) {
        pg_note_lease_kept(pg);
    }
}

// The last check whether the database has all rows that it was given.
bool pg_tidy(struct journal *journal)
{
    struct pg *pg = pg_of(journal);
    const struct rows_known known = pg_known(pg);
    enum rows_outcome outcome;

    if (progress_stops(&journal->progress) && fence_is_open(&pg->fence, pg->settings.boot())) {
        pg_ops(pg)->resume(pg->settings.rows);
    }
    fence_move(&pg->fence, 0);
    outcome = pg_ops(pg)->release(pg->settings.rows, &known);
    if (outcome == ROWS_DOUBT) {
        journal->slot.task =
            (struct task){.kind = TASK_RENEW_LEASE, .segment = journal->segments.current};
        if (slot_run(&journal->slot, &journal->slot.task) != 0 && pg->link.rows_lost) {
            journal->storage->ops->maintained(journal);
            return false;
        }
        outcome = pg_ops(pg)->release(pg->settings.rows, &known);
    }
    fence_move(&pg->fence, 0);
    if (outcome != ROWS_DONE) {
        pg_note_lease_kept(pg);
    }
    return true;
}
