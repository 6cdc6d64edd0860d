/* SPDX-License-Identifier: MIT */
#include "journal/pg/follow.h"

#include "core/base/log.h"
#include "core/restore.h"

#include <inttypes.h>
#include <string.h>

// After so many records, others are told how many jobs there are.
enum { RECORDS_TOLD = 1024 };
#define LOOK_EVERY_FOR NSEC_PER_SEC
// Where the lease lasts briefly, so many times meanwhile.
enum { LOOKS = 4 };
// Rows that are missing are looked for once more before they are taken to be lost.
enum { LOOKS_FOR_MISSING = 3 };

//
// Damage
//

// False where the start is refused for it.
static bool lose(struct follow *follow, uint64_t unit, uint64_t seq, const char *what)
{
    if (follow->journal->settings.repair) {
        log_warn("journal_lost", log_number("unit", (int64_t)unit), log_number("seq", (int64_t)seq),
                 log_string("why", what));
        follow->damaged = true;
        return true;
    }
    error_set(follow->why, "unit %" PRIu64 ", row %" PRIu64 ": %s", unit, seq, what);
    follow->failed = true;
    return false;
}

static bool fail(struct follow *follow, const char *what)
{
    error_set(follow->why, "%s", what);
    follow->failed = true;
    return false;
}

//
// Records
//

static void count_jobs(struct follow *follow)
{
    struct broker_info info;

    follow->records++;
    if (follow->records % RECORDS_TOLD == 0) {
        broker_info(follow->journal->broker, &info);
        progress_set_jobs(&follow->journal->progress,
                          info.jobs[JOB_READY] + info.jobs[JOB_DELAYED] + info.jobs[JOB_BURIED]);
    }
}

static bool take_record(void *context, const struct codec_record *record)
{
    struct follow *follow = context;

    switch (apply_record(follow->journal, &follow->seen, follow->unit, record)) {
    case APPLIED:
        // Whether they are still there or not. Where all is being written anew, one that says less
        // was to be written before rows were lost, and what it goes by may be among these.
        if (record->type == CODEC_DROPPED && record->number + 1 >= follow->anew_below) {
            (void)follow_forget_below(follow, record->number + 1);
        }
        count_jobs(follow);
        return true;
    case APPLIED_NOT:
        return lose(follow, follow->unit->number, follow->at_seq, "a record says what cannot be");
    case APPLIED_NO_MEMORY:
        return fail(follow, "out of memory");
    }
    UNREACHABLE();
}

//
// Rows
//

// With places for those before it that are lost, or were passed over.
static struct segment *add_segment(struct follow *follow, const struct unit_head *head)
{
    struct segments *segments = &follow->journal->row.segments;
    struct segment *segment;
    uint64_t number;

    do {
        number = segments->count ? segments->first + segments->count : head->number;
        segment = segment_new(number, number == head->number ? head->salt : 0);
        if (!segment || !segments_make_room(segments)) {
            segment_free(segment);
            return NULL;
        }
        segment->published = true;
        segment->ids_end = head->ids_end;
        segment->created_ms = head->created_ms;
        segments_add(segments, segment);
    } while (number < head->number);
    segment->owner = head->owner;
    segment->history = head->history;
    segment->anew_below = head->anew_below;
    return segment;
}

static bool begin_unit(struct follow *follow, const struct rows_row *row)
{
    struct unit_head head;
    struct segment *segment;

    if (row->len < CODEC_SEGMENT_HEAD ||
        codec_read_unit_head(row->bytes, &head) != CODEC_HEAD_GOOD || head.number != row->unit) {
        return false;
    }
    segment = add_segment(follow, &head);
    if (!segment) {
        return fail(follow, "out of memory");
    }
    follow->unit = segment;
    follow->rest_lost = false;
    if (head.anew_below == head.number) {
        follow_note_renewal(follow, &head);
    }
    follow->anew_below = head.anew_below;
    if (follow->seen.ids_end < head.ids_end) {
        follow->seen.ids_end = head.ids_end;
    }
    feed_begin(&follow->feed, head.salt);
    return true;
}

static bool feed_row(struct follow *follow, const struct rows_row *row, size_t from)
{
    switch (feed_rows(&follow->feed, row->bytes + from, row->len - from, take_record, follow)) {
    case FEED_DONE:
        return true;
    case FEED_BAD:
        follow->bad = true;
        return false;
    case FEED_REFUSED:
        return !follow->failed;
    case FEED_NO_MEMORY:
        return fail(follow, "out of memory");
    }
    UNREACHABLE();
}

static bool take_row(void *context, const struct rows_row *row)
{
    struct follow *follow = context;
    bool begins = !follow->unit || follow->unit->number != row->unit;
    struct segment *unit;

    if (progress_stops(&follow->journal->progress)) {
        return false;
    }
    follow->at_seq = row->seq;
    if ((follow->follows_on && row->seq != follow->seq + 1) ||
        (begins && !begin_unit(follow, row))) {
        follow->gap = !follow->failed;
        return false;
    }
    unit = follow->unit;
    follow->follows_on = true;
    progress_grow(&follow->journal->progress, row->len);
    progress_add(&follow->journal->progress, row->len);
    if (!follow->rest_lost && !feed_row(follow, row, begins ? CODEC_SEGMENT_HEAD : 0)) {
        // What is expected next.
        follow->seq = row->seq - 1;
        return false;
    }
    follow_note_row(follow, row);
    unit->end += row->len;
    unit->size = unit->end;
    unit->written = unit->end;
    unit->synced = unit->end;
    return true;
}

//
// Following
//

static enum follow_end look_again(struct follow *follow, struct rows_lease *lease)
{
    struct pg *pg = pg_of(follow->journal);
    nsec_t asked_at = pg->settings.boot();
    enum rows_outcome outcome = pg_ops(pg)->look(pg->settings.rows, lease);

    if (outcome != ROWS_DONE) {
        return outcome == ROWS_STOPPED ? FOLLOW_STOPPED : FOLLOW_AWAY;
    }
    follow->looked_at = asked_at;
    outlook_set_lease(&pg->outlook, lease, asked_at);
    return FOLLOW_DONE;
}

nsec_t follow_look_every(const struct pg *pg)
{
    nsec_t every_for = pg->settings.ttl_for / LOOKS;

    return every_for < LOOK_EVERY_FOR ? every_for : LOOK_EVERY_FOR;
}

static bool is_time_to_look(const struct follow *follow)
{
    const struct pg *pg = pg_of(follow->journal);

    return pg->settings.boot() - follow->looked_at >= follow_look_every(pg);
}

// What is left of a unit that is lost is removed with it: no other may have its number.
static bool keep_place(struct follow *follow, uint64_t unit)
{
    const struct segments *segments = &follow->journal->row.segments;
    const struct unit_head head = {.number = unit, .ids_end = follow->seen.ids_end};

    if (segments->count > 0 && segments->first + segments->count > unit) {
        return true;
    }
    return add_segment(follow, &head) || fail(follow, "out of memory");
}

// That the number is the same is not enough: rows may have been lost, and others added since.
static bool has_all(const struct follow *follow, const struct rows_lease *lease)
{
    return follow->seq >= lease->seq && follow->last_unit >= lease->unit;
}

// Whether it is of another server of the database, or of another owner.
static bool is_another(const struct rows_lease *before, const struct rows_lease *lease)
{
    return lease->epoch != before->epoch || strcmp(lease->holder, before->holder) != 0 ||
           lease->since_ms != before->since_ms || lease->history != before->history ||
           lease->seq < before->seq;
}

// What was read is not what was expected. Another may have taken it meanwhile. `*elsewhere`:
// reading goes on somewhere else, or not at all.
static enum follow_end look_closely(struct follow *follow, struct rows_lease *lease,
                                    bool *elsewhere)
{
    const struct rows_lease before = *lease;
    unsigned moves = follow->moves;
    enum follow_end end = look_again(follow, lease);

    // It may have been read from another server than the one of which the lease was.
    follow->known = false;
    if (end == FOLLOW_DONE) {
        end = follow_check_history(follow);
    }
    *elsewhere =
        end != FOLLOW_DONE || follow->moves != moves || follow->ahead || is_another(&before, lease);
    return end;
}

// A record of a row that was read does not check.
static enum follow_end pass_over_rest(struct follow *follow, uint64_t unit,
                                      struct rows_lease *lease)
{
    bool elsewhere;
    enum follow_end end = look_closely(follow, lease, &elsewhere);

    if (elsewhere) {
        return end;
    }
    if (follow->changed && !follow->journal->settings.repair) {
        return FOLLOW_ASTRAY;
    }
    follow->rest_lost = true;
    return lose(follow, unit, follow->at_seq, "a record does not check") ? FOLLOW_DONE
                                                                         : FOLLOW_FAILED;
}

// Another server of the database may have been there for a moment, and what was looked for was not.
static bool may_look_again(struct follow *follow)
{
    follow->looks = follow->missed == follow->seq ? follow->looks + 1 : 1;
    follow->missed = follow->seq;
    follow_go_back(follow);
    return follow->looks <= LOOKS_FOR_MISSING;
}

// Rows are missing from this unit on. They were removed meanwhile, or they are lost.
static enum follow_end pass_over(struct follow *follow, uint64_t unit, struct rows_lease *lease)
{
    bool elsewhere;
    enum follow_end end = look_closely(follow, lease, &elsewhere);
    // What is missing may have been the rest of the unit that was read last.
    bool rest_removed = follow->follows_on && lease->oldest > follow->last_unit;

    if (elsewhere || has_all(follow, lease)) {
        return end;
    }
    if (lease->oldest <= unit && !rest_removed && may_look_again(follow)) {
        return FOLLOW_DONE;
    }
    follow->follows_on = false;
    if (lease->oldest > unit || rest_removed) {
        follow_forget_removed(follow);
        follow->next_unit = lease->oldest;
        return FOLLOW_DONE;
    }
    // It may be that of another server: who reads it all again knows.
    if (follow->changed && !follow->journal->settings.repair) {
        return FOLLOW_ASTRAY;
    }
    if (!lose(follow, unit, follow->seq + 1, "the row is missing, or does not follow")) {
        return FOLLOW_FAILED;
    }
    if (!keep_place(follow, unit)) {
        return FOLLOW_FAILED;
    }
    follow->unit = NULL;
    follow->next_unit = unit + 1;
    follow->last_unit = unit;
    follow->last.known = false;
    follow->seq = unit < lease->unit ? follow->seq : lease->seq;
    return FOLLOW_DONE;
}

static enum follow_end read_unit(struct follow *follow, uint64_t unit)
{
    struct pg *pg = pg_of(follow->journal);
    uint64_t after = follow->unit && follow->unit->number == unit ? follow->seq : 0;
    enum rows_outcome outcome;

    follow->gap = false;
    follow->bad = false;
    outcome = pg_ops(pg)->read(pg->settings.rows, unit, after, take_row, follow);
    if (progress_stops(&follow->journal->progress) || outcome == ROWS_STOPPED) {
        return FOLLOW_STOPPED;
    }
    if (follow->failed) {
        return FOLLOW_FAILED;
    }
    follow->refused = outcome == ROWS_REFUSED;
    return outcome == ROWS_DONE ? FOLLOW_DONE : FOLLOW_AWAY;
}

// The unit that holds what is to be read next.
static uint64_t unit_to_read(const struct follow *follow, const struct rows_lease *lease)
{
    if (follow->unit) {
        return follow->unit->number;
    }
    return follow->next_unit > lease->oldest ? follow->next_unit : lease->oldest;
}

// Reads what the unit has. What it has begun with is read to its end; the next one follows on it.
static enum follow_end follow_unit(struct follow *follow, uint64_t unit, struct rows_lease *lease)
{
    enum follow_end end = read_unit(follow, unit);
    bool read = follow->unit && follow->unit->number == unit;

    if (end != FOLLOW_DONE) {
        return end;
    }
    if (follow->bad) {
        return pass_over_rest(follow, unit, lease);
    }
    // Numbers were passed over when rows were lost: the next unit goes on with the next number of a
    // row, or it is damage.
    if (!read && !follow->gap && follow->follows_on && unit < lease->unit) {
        follow->next_unit = unit + 1;
        return FOLLOW_DONE;
    }
    if (follow->gap || !read || (unit >= lease->unit && follow->seq < lease->seq)) {
        return pass_over(follow, unit, lease);
    }
    if (unit < lease->unit) {
        if (feed_is_within(&follow->feed) &&
            !lose(follow, unit, follow->seq, "the unit ends within a record")) {
            return FOLLOW_FAILED;
        }
        follow->next_unit = unit + 1;
        follow->unit = NULL;
    }
    return FOLLOW_DONE;
}

enum follow_end follow_rows(struct follow *follow, struct rows_lease *lease)
{
    struct pg *pg = pg_of(follow->journal);
    // What is added meanwhile is for the next time: it may be as much as is read.
    const struct rows_lease goal = *lease;
    enum follow_end end;

    follow->lease = lease;
    end = follow_check_history(follow);
    if (end != FOLLOW_DONE || follow->ahead) {
        return end;
    }
    follow_forget_removed(follow);
    // Those of a unit that was removed before it was begun.
    follow->follows_on &= follow->unit || follow->next_unit >= lease->oldest;
    while (end == FOLLOW_DONE && !follow->ahead && !has_all(follow, &goal) &&
           !has_all(follow, lease)) {
        broker_restore_now(follow->journal->broker, pg->settings.clock());
        end = follow_unit(follow, unit_to_read(follow, lease), lease);
        if (end == FOLLOW_DONE && is_time_to_look(follow)) {
            end = look_again(follow, lease);
        }
        // Another may have taken it meanwhile.
        if (end == FOLLOW_DONE) {
            end = follow_check_history(follow);
        }
    }
    outlook_set_seq(&pg->outlook, follow->seq);
    return end;
}

void follow_clear(struct follow *follow)
{
    feed_clear(&follow->feed);
}
