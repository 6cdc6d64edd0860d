/* SPDX-License-Identifier: MIT */

// Opening: this process follows whoever owns the journal, until it owns it itself. And closing: the
// lease is given up, so that another need not wait until it has lapsed.

#include "core/base/log.h"
#include "core/restore.h"
#include "journal/pg/follow.h"

#include <string.h>

// How long nothing is asked of a database that cannot be reached.
#define AWAY_FOR (500 * NSEC_PER_MSEC)
// So much is looked at for what is not needed any more, in one go.
enum { TIDY_AT_A_TIME = 4096 };

// A process that does not own the journal yet.
struct standby {
    struct journal *journal;
    struct pg *pg;
    struct error_text *why;
    struct follow follow;
    struct rows_lease lease;
    nsec_t began_at;    // by the boot-time clock, as all moments here
    nsec_t reported_at; //
    uint64_t yields_to; // this epoch, for one ttl
    bool reached;       // the database has answered once
    bool kept_from;     // the lease, which was free, could not be taken, or must not be
    bool unfit;         // the database does not wait for a quorum
    bool replayed;      // all that there was has been read once, and the log says so
};

static nsec_t present(const struct standby *standby)
{
    return standby->pg->settings.boot();
}

static bool stops(const struct standby *standby)
{
    return progress_stops(&standby->journal->progress);
}

static bool complain(const struct standby *standby, const char *text)
{
    return error_set(standby->why, "%s", text);
}

// The database has not done what it was asked for; false where there is no use in asking again.
static bool wait_for_database(struct standby *standby, enum rows_outcome outcome)
{
    struct rows *rows = standby->pg->settings.rows;

    if (outcome == ROWS_REFUSED && !standby->reached && !standby->pg->settings.again) {
        return complain(standby, rows->ops->why(rows));
    }
    if (!stops(standby)) {
        pg_note_away(standby->pg);
        (void)rows->ops->wait(rows, AWAY_FOR);
    }
    return true;
}

static bool is_free(const struct standby *standby)
{
    const struct rows_lease *lease = &standby->lease;

    return lease->epoch == 0 || lease->released ||
           lease->left_for <= present(standby) - standby->follow.looked_at;
}

static void note_lease(struct standby *standby, nsec_t asked_at)
{
    struct pg *pg = standby->pg;

    standby->follow.looked_at = asked_at;
    pg->link.epoch = standby->lease.epoch;
    outlook_set_lease(&pg->outlook, &standby->lease, asked_at);
    if (!standby->reached && !standby->unfit) {
        pg_note_back(pg);
    }
}

// The database has answered all that was asked for now.
static void note_all_good(struct standby *standby)
{
    standby->kept_from &= is_free(standby);
    if (!standby->kept_from) {
        pg_note_back(standby->pg);
    }
}

// What the settings of the database are worth is known before anything is served.
static bool reach(struct standby *standby)
{
    char why[CARE_TEXT_MAX + 80];

    if (standby->reached) {
        return true;
    }
    // Once another has had it, its chance is over.
    standby->yields_to =
        standby->pg->settings.yields && is_free(standby) ? standby->lease.epoch : 0;
    standby->unfit = !pg_judge(standby->pg, why, sizeof why);
    if (standby->unfit && !standby->pg->settings.again) {
        return complain(standby, why);
    }
    if (standby->unfit) {
        pg_note_unfit(standby->pg, why);
    }
    standby->reached = !standby->unfit && pg_is_judged(standby->pg);
    return true;
}

// The settings may be others than when they were looked at last.
static bool is_fit(struct standby *standby)
{
    char why[CARE_TEXT_MAX + 80];

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

static void say_replayed(struct standby *standby)
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
             log_number("segments", (int64_t)standby->journal->row.segments.count),
             log_number("bytes", (int64_t)row_bytes(&standby->journal->row)),
             log_number("ms", (present(standby) - standby->began_at) / NSEC_PER_MSEC));
}

// Reads what there is. False where that ends the opening; `*away`: it could not be read.
static bool read_rows(struct standby *standby, bool *away)
{
    struct broker *broker = standby->journal->broker;

    *away = false;
    switch (follow_rows(&standby->follow, &standby->lease)) {
    case FOLLOW_DONE:
        broker_restore_now(broker, standby->pg->settings.clock());
        while (!broker_restore_tidy(broker, TIDY_AT_A_TIME) && !stops(standby)) {
        }
        say_replayed(standby);
        return true;
    case FOLLOW_AWAY:
        *away = true;
        // What is refused from the beginning on is a matter of rights.
        if (standby->follow.refused && !standby->replayed && !standby->pg->settings.again) {
            return complain(standby, pg_ops(standby->pg)->why(standby->pg->settings.rows));
        }
        return wait_for_database(standby, ROWS_AWAY);
    case FOLLOW_FAILED:
        return false;
    case FOLLOW_ASTRAY:
        pg_lose(standby->pg);
        return complain(standby, "the database has lost rows that were read, and another process "
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

// After a handover others have their chance.
static bool yields(const struct standby *standby)
{
    return standby->yields_to > 0 && standby->lease.epoch == standby->yields_to &&
           present(standby) - standby->began_at < standby->pg->settings.ttl_for;
}

// An answer that did not come is looked for: the holder's name says whose lease it is.
static enum rows_outcome look_who(struct standby *standby, const struct rows_lease *seen,
                                  struct rows_lease *taken)
{
    struct rows *rows = standby->pg->settings.rows;
    enum rows_outcome outcome = rows->ops->look(rows, taken);

    if (outcome == ROWS_DONE && (taken->epoch != seen->epoch + 1 ||
                                 strcmp(taken->holder, standby->pg->settings.node) != 0)) {
        outcome = ROWS_LOST;
    }
    return outcome;
}

static enum rows_outcome take(struct standby *standby)
{
    struct rows *rows = standby->pg->settings.rows;
    nsec_t asked_at = present(standby);
    struct rows_lease taken;
    enum rows_outcome outcome = rows->ops->take(rows, &standby->lease, &taken);

    if (outcome == ROWS_DOUBT) {
        outcome = look_who(standby, &standby->lease, &taken);
    }
    standby->kept_from = outcome != ROWS_DONE && outcome != ROWS_LOST;
    if (outcome == ROWS_DONE) {
        follow_note_taking(&standby->follow, &standby->lease);
        standby->lease = taken;
        note_lease(standby, asked_at);
        pg_note_back(standby->pg);
        pg_claim(standby->pg, asked_at);
    }
    return outcome;
}

// What its last owner has still added is read, too: nobody adds to that any more.
static bool read_rest(struct standby *standby)
{
    bool away = true;

    while (away && !stops(standby)) {
        if (!read_rows(standby, &away)) {
            return false;
        }
    }
    return !away || complain(standby, "stopped");
}

//
// Following
//

static void report(struct standby *standby)
{
    if (present(standby) - standby->reported_at >= follow_look_every(standby->pg)) {
        standby->reported_at = present(standby);
        pg_report(standby->pg, standby->follow.seq, false);
    }
}

static void rest(struct standby *standby)
{
    struct rows *rows = standby->pg->settings.rows;
    nsec_t left_for = standby->lease.left_for - (present(standby) - standby->follow.looked_at);
    nsec_t most_for = follow_look_every(standby->pg);

    if (left_for > 0 && left_for < most_for && standby->pg->settings.takes) {
        most_for = left_for;
    }
    (void)rows->ops->wait(rows, most_for);
}

// One look at how things stand, and what is to be done about it. False where the opening is over;
// `*owns`: with success.
static bool follow_on(struct standby *standby, bool *owns)
{
    struct rows *rows = standby->pg->settings.rows;
    nsec_t asked_at = present(standby);
    enum rows_outcome outcome = rows->ops->look(rows, &standby->lease);
    bool away = false;

    if (outcome != ROWS_DONE) {
        return wait_for_database(standby, outcome);
    }
    note_lease(standby, asked_at);
    if (!reach(standby)) {
        return false;
    }
    if (standby->unfit) {
        (void)rows->ops->wait(rows, AWAY_FOR);
        return true;
    }
    if (!standby->reached) {
        return wait_for_database(standby, ROWS_AWAY);
    }
    if (!read_rows(standby, &away)) {
        return false;
    }
    if (away) {
        return true;
    }
    note_all_good(standby);
    outlook_set_role(&standby->pg->outlook, OUTLOOK_FOLLOWS);
    report(standby);
    if (!standby->pg->settings.takes || !is_free(standby) || yields(standby) || !is_fit(standby)) {
        rest(standby);
        return true;
    }
    outcome = take(standby);
    *owns = outcome == ROWS_DONE;
    // What another has taken is looked at again at once.
    return !*owns && (outcome == ROWS_LOST || wait_for_database(standby, outcome));
}

// Units that hold nothing any more are still to be removed.
static bool remember_removal(struct standby *standby)
{
    struct row *row = &standby->journal->row;

    if (row->segments.count == 0 || row->segments.first <= standby->lease.oldest) {
        return true;
    }
    row->removing = segment_new(row->segments.first - 1, 0);
    return row->removing || complain(standby, "out of memory");
}

// What is known of the rows, and what is to be made of it: whoever owned it before may not have
// come to the end of writing all anew, and the database may lack what was read.
static void note_past(struct standby *standby)
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
    standby->journal->row.unsound_below = follow->anew_below;
    if (follow->ahead) {
        pg_note_loss(pg, lease, follow->seq);
    }
    if (row_is_unsound(&standby->journal->row)) {
        log_warn("journal_unsound", log_number("below", (int64_t)follow->anew_below),
                 log_string("note", "rows were lost; what lives is written anew"));
    }
}

static bool become_owner(struct standby *standby, struct restored *restored)
{
    bool owns = false;

    while (!stops(standby) && follow_on(standby, &owns)) {
    }
    if (!owns || !read_rest(standby)) {
        return !stops(standby) ? false : complain(standby, "stopped");
    }
    if (!remember_removal(standby)) {
        return false;
    }
    note_past(standby);
    *restored = (struct restored){.ids_end = standby->follow.seen.ids_end +
                                             (standby->follow.damaged ? IDS_LOST : 0),
                                  .damaged = standby->follow.damaged};
    return true;
}

bool pg_open(struct journal *journal, struct restored *restored, struct error_text *why)
{
    struct standby standby = {.journal = journal, .pg = pg_of(journal), .why = why};
    bool good;

    standby.began_at = present(&standby);
    standby.reported_at = standby.began_at - NSEC_PER_SEC;
    standby.follow.journal = journal;
    standby.follow.why = why;
    good = become_owner(&standby, restored);
    follow_clear(&standby.follow);
    return good;
}

static bool begin_renewal(struct journal *journal, struct segment *next)
{
    if (!pg_can_renew(journal)) {
        segment_free(next);
        return false;
    }
    pg_renew(journal, next);
    return true;
}

// The youngest unit is gone on with where there are many: nothing is torn at its end. Who has
// followed another that did so, and has read what is lost, finds another history.
static void go_on(struct journal *journal)
{
    struct segments *segments = &journal->row.segments;
    struct pg *pg = pg_of(journal);

    journal->row.current = segments->list[segments->count - 1];
    journal->row.current->size = PG_UNIT_SIZE;
    pg->history++;
    journal->row.current->history = (uint32_t)pg->history;
    row_count(&journal->row);
}

bool pg_begin(struct journal *journal, struct error_text *why)
{
    struct segments *segments = &journal->row.segments;
    struct pg *pg = pg_of(journal);
    bool begun = true;

    if (!pg->link.rows_lost && pg_units(journal) >= UNITS_FULL_AT_START &&
        segments->list[segments->count - 1]->salt != 0) {
        go_on(journal);
    } else if (!segments_make_room(segments) || !pg_make_spare(journal)) {
        begun = false;
    } else if (pg->link.rows_lost) {
        begun = begin_renewal(journal, pg_take_spare(journal));
    } else {
        pg_follow(journal, pg_take_spare(journal));
    }
    if (!begun) {
        return error_set(why, "out of memory, or of tables for units");
    }
    outlook_set_role(&pg->outlook, OUTLOOK_OWNS);
    return true;
}

//
// Closing
//

static void note_kept(const struct pg *pg)
{
    log_warn("lease_kept", log_string("shard", pg->settings.shard),
             log_string("why", pg_ops(pg)->why(pg->settings.rows)),
             log_string("note", "others wait until it has lapsed"));
}

// An opening may have been stopped in the moment in which it got the lease: nothing was added
// since.
void pg_let_go(struct journal *journal)
{
    struct pg *pg = pg_of(journal);
    struct rows *rows = pg->settings.rows;
    struct rows_known known = {.epoch = pg->link.epoch};
    struct rows_lease lease;

    rows->ops->resume(rows);
    fence_move(&pg->fence, 0);
    if (rows->ops->renew(rows, known.epoch, &lease) == ROWS_DONE) {
        known.seq = lease.seq;
        known.history = lease.history;
    }
    if (rows->ops->release(rows, &known) != ROWS_DONE) {
        note_kept(pg);
    }
}

// Whether the database has all that it was given turns out here for the last time.
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
        journal->work.task = (struct task){.kind = TASK_RENEW, .segment = journal->row.current};
        if (work_do(&journal->work, &journal->work.task) != 0 && pg->link.rows_lost) {
            journal->storage->ops->upkeep_take_in(journal);
            return false;
        }
        outcome = pg_ops(pg)->release(pg->settings.rows, &known);
    }
    fence_move(&pg->fence, 0);
    if (outcome != ROWS_DONE) {
        note_kept(pg);
    }
    return true;
}
