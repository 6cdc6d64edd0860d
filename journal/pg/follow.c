/* SPDX-License-Identifier: MIT */

// Following an owner: reads new rows, and forgets units that were removed meanwhile.

#include "journal/pg/follow.h"

#include "core/base/log.h"
#include "core/restore.h"
#include "journal/space.h"

#include <inttypes.h>
#include <string.h>

static bool follow_end_jobs(struct follow *follow, const struct segment *segment)
{
    struct journal *journal = follow->journal;
    bool lived = segment->jobs > 0;

    for (size_t i = 0; segment->jobs > 0 && i < segment->run_count; i++) {
        const struct id_run *run = &segment->runs[i];

        for (uint64_t id = run->first; id <= run->last && segment->jobs > 0; id++) {
            const struct job *job = broker_find(journal->broker, id);

            if (job && job_mark(job) == (uint32_t)segment->number) {
                ledger_remove(&journal->ledger, &journal->segments.list, job,
                              ledger_size_of(journal->broker, job));
                ENSURE(broker_restore_end(journal->broker, id) == STATUS_OK);
            }
        }
    }
    return lived;
}

static bool follow_end_pauses(struct follow *follow, uint64_t number)
{
    struct broker *broker = follow->journal->broker;
    const struct queue *queue;
    bool lived = false;

    while ((queue = broker_pause_oldest(broker)) && queue_mark(queue) == (uint32_t)number &&
           broker_restore_pause(broker, queue_name(queue), 0, 0, &queue) == STATUS_OK) {
        lived = true;
    }
    return lived;
}

static bool follow_end_memos(struct follow *follow, uint64_t number)
{
    struct broker *broker = follow->journal->broker;
    const struct memo *memo;
    bool lived = false;

    while ((memo = broker_memo_oldest(broker)) && memo_mark(memo) == (uint32_t)number &&
           broker_restore_forget(broker, memo->kind, memo->key) == STATUS_OK) {
        lived = true;
    }
    return lived;
}

static bool follow_forget_below(struct follow *follow, uint64_t oldest)
{
    struct segment_list *segments = &follow->journal->segments.list;
    bool lived = false;

    while (segments->count > 0 && segments->first < oldest) {
        struct segment *segment = segments->items[0];

        lived |= follow_end_jobs(follow, segment);
        lived |= follow_end_pauses(follow, segment->number);
        lived |= follow_end_memos(follow, segment->number);
        (void)segment_list_shift(segments);
        if (segment == follow->unit) {
            follow->unit = NULL;
            follow->follows_on = false;
        }
        segment_free(segment);
    }
    return lived;
}

static void follow_forget_removed(struct follow *follow)
{
    uint64_t oldest = follow->lease->oldest;

    if (follow->last_unit > 0 && follow->last_unit < oldest) {
        (void)follow_forget_below(follow, oldest);
        follow->unit = NULL;
        follow->next_unit = oldest;
        follow->last_unit = 0;
        follow->seq = 0;
        follow->last.known = false;
        follow->rewrite = 0;
        follow_owe(follow);
        follow->rewrite_from = 0;
        follow->follows_on = false;
    } else if (follow_forget_below(follow, oldest)) {
        follow_owe(follow);
    }
}

// After this many records the number of jobs is published.
enum { RECORDS_TOLD = 1024 };
#define LOOK_EVERY_FOR NSEC_PER_SEC
// If the lease is short, it is read this many times while it lasts.
enum { LOOKS = 4 };
// Rows that are missing are read again this many times before they count as lost.
enum { LOOKS_FOR_MISSING = 3 };

//
// Damage
//

// Rows are lost or invalid. False if opening fails for it.
static bool follow_loses(struct follow *follow, uint64_t unit, uint64_t seq, const char *what)
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

static bool follow_fails(struct follow *follow, const char *what)
{
    error_set(follow->why, "%s", what);
    follow->failed = true;
    return false;
}

//
// Records
//

static void follow_count_record(struct follow *follow)
{
    struct broker_info info;

    follow->records++;
    if (follow->records % RECORDS_TOLD == 0) {
        broker_info(follow->journal->broker, &info);
        progress_set_jobs(&follow->journal->progress,
                          info.jobs[JOB_READY] + info.jobs[JOB_DELAYED] + info.jobs[JOB_BURIED]);
    }
}

static bool follow_take_record(void *context, const struct codec_record *record)
{
    struct follow *follow = context;

    switch (apply_record(follow->journal, &follow->seen, follow->unit, record)) {
    case APPLIED:
        // Even if the units still exist. During a rewrite, a record that drops fewer units was
        // written before rows were lost, and may depend on these.
        if (record->type == CODEC_DROPPED && record->number + 1 >= follow->rewrite_from) {
            (void)follow_forget_below(follow, record->number + 1);
        }
        follow_count_record(follow);
        return true;
    case APPLIED_NOT:
        return follow_loses(follow, follow->unit->number, follow->at_seq,
                            "a record is impossible at this place");
    case APPLIED_NO_MEMORY:
        return follow_fails(follow, "out of memory");
    }
    UNREACHABLE();
}

//
// Rows
//

// Adds empty segments for numbers before it that are lost or were passed over.
static struct segment *follow_add_segment(struct follow *follow, const struct unit_head *head)
{
    struct segment_list *segments = &follow->journal->segments.list;
    struct segment *segment;
    uint64_t number;

    do {
        number = segments->count ? segments->first + segments->count : head->number;
        segment = segment_new(number, number == head->number ? head->salt : 0);
        if (!segment || !segment_list_make_room(segments)) {
            segment_free(segment);
            return NULL;
        }
        segment_set_state(segment, SEGMENT_PUBLISHED);
        segment->ids_end = head->ids_end;
        segment->created_ms = head->created_ms;
        segment_list_add(segments, segment);
    } while (number < head->number);
    segment->owner = head->owner;
    segment->history = head->history;
    segment->rewrite_from = head->rewrite_from;
    return segment;
}

static bool follow_begin_unit(struct follow *follow, const struct rows_row *row)
{
    struct unit_head head;
    struct segment *segment;

    if (row->len < CODEC_SEGMENT_HEAD ||
        codec_read_unit_head(row->bytes, &head) != CODEC_HEAD_GOOD || head.number != row->unit) {
        return false;
    }
    segment = follow_add_segment(follow, &head);
    if (!segment) {
        return follow_fails(follow, "out of memory");
    }
    follow->unit = segment;
    follow->rest_lost = false;
    if (head.rewrite_from == head.number) {
        follow_note_rewrite(follow, &head);
    }
    follow->rewrite_from = head.rewrite_from;
    if (follow->seen.ids_end < head.ids_end) {
        follow->seen.ids_end = head.ids_end;
    }
    record_reader_begin(&follow->reader, head.salt);
    return true;
}

static bool follow_read_row(struct follow *follow, const struct rows_row *row, size_t from)
{
    switch (record_reader_add(&follow->reader, row->bytes + from, row->len - from,
                              follow_take_record, follow)) {
    case RECORD_READER_DONE:
        return true;
    case RECORD_READER_BAD:
        follow->bad = true;
        return false;
    case RECORD_READER_REFUSED:
        return !follow->failed;
    case RECORD_READER_NO_MEMORY:
        return follow_fails(follow, "out of memory");
    }
    UNREACHABLE();
}

static bool follow_take_row(void *context, const struct rows_row *row)
{
    struct follow *follow = context;
    bool begins = !follow->unit || follow->unit->number != row->unit;
    struct segment *unit;

    if (progress_stops(&follow->journal->progress)) {
        return false;
    }
    follow->at_seq = row->seq;
    if ((follow->follows_on && row->seq != follow->seq + 1) ||
        (begins && !follow_begin_unit(follow, row))) {
        follow->gap = !follow->failed;
        return false;
    }
    unit = follow->unit;
    follow->follows_on = true;
    progress_grow(&follow->journal->progress, row->len);
    progress_add(&follow->journal->progress, row->len);
    if (!follow->rest_lost && !follow_read_row(follow, row, begins ? CODEC_SEGMENT_HEAD : 0)) {
        // The next row to be expected.
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

static enum follow_end follow_look_again(struct follow *follow, struct rows_lease *lease)
{
    struct pg *pg = pg_of(follow->journal);
    nsec_t asked_at = pg->settings.boot();
    enum rows_outcome outcome = pg_ops(pg)->look(pg->settings.rows, lease);

    if (outcome != ROWS_DONE) {
        return outcome == ROWS_STOPPED ? FOLLOW_STOPPED : FOLLOW_AWAY;
    }
    follow->looked_at = asked_at;
    ownership_set_lease(&pg->ownership, lease, asked_at);
    return FOLLOW_DONE;
}

nsec_t follow_look_every(const struct pg *pg)
{
    nsec_t every_for = pg->settings.ttl_for / LOOKS;

    return every_for < LOOK_EVERY_FOR ? every_for : LOOK_EVERY_FOR;
}

static bool follow_is_time_to_look(const struct follow *follow)
{
    const struct pg *pg = pg_of(follow->journal);

    return pg->settings.boot() - follow->looked_at >= follow_look_every(pg);
}

// A lost unit keeps its place, since no other unit may have its number; it is removed with the
// rest.
static bool follow_keep_place(struct follow *follow, uint64_t unit)
{
    const struct segment_list *segments = &follow->journal->segments.list;
    const struct unit_head head = {.number = unit, .ids_end = follow->seen.ids_end};

    if (segments->count > 0 && segments->first + segments->count > unit) {
        return true;
    }
    return follow_add_segment(follow, &head) || follow_fails(follow, "out of memory");
}

// The seq alone is not enough: rows may have been lost, and others added since.
static bool follow_has_all(const struct follow *follow, const struct rows_lease *lease)
{
    return follow->seq >= lease->seq && follow->last_unit >= lease->unit;
}

// Whether the lease is of another server of the database, or of another owner.
static bool follow_is_another(const struct rows_lease *before, const struct rows_lease *lease)
{
    return lease->epoch != before->epoch || strcmp(lease->holder, before->holder) != 0 ||
           lease->since_ms != before->since_ms || lease->history != before->history ||
           lease->seq < before->seq;
}

// The rows are not as expected. Another process may have taken the lease meanwhile. `*elsewhere`:
// reading continues at another place, or not at all.
static enum follow_end follow_look_closely(struct follow *follow, struct rows_lease *lease,
                                           bool *elsewhere)
{
    const struct rows_lease before = *lease;
    unsigned moves = follow->moves;
    enum follow_end end = follow_look_again(follow, lease);

    // The rows may have come from another server than the lease.
    follow->known = false;
    if (end == FOLLOW_DONE) {
        end = follow_check_history(follow);
    }
    *elsewhere = end != FOLLOW_DONE || follow->moves != moves || follow->ahead ||
                 follow_is_another(&before, lease);
    return end;
}

// A record of a row is invalid.
static enum follow_end follow_pass_over_rest(struct follow *follow, uint64_t unit,
                                             struct rows_lease *lease)
{
    bool elsewhere;
    enum follow_end end = follow_look_closely(follow, lease, &elsewhere);

    if (elsewhere) {
        return end;
    }
    if (follow->changed && !follow->journal->settings.repair) {
        return FOLLOW_ASTRAY;
    }
    follow->rest_lost = true;
    return follow_loses(follow, unit, follow->at_seq, "a record has a wrong checksum")
               ? FOLLOW_DONE
               : FOLLOW_FAILED;
}

// For a moment there may have been another server of the database, without the rows.
static bool follow_may_look_again(struct follow *follow)
{
    follow->looks = follow->missed == follow->seq ? follow->looks + 1 : 1;
    follow->missed = follow->seq;
    follow_go_back(follow);
    return follow->looks <= LOOKS_FOR_MISSING;
}

// Rows are missing from this unit on. They were removed meanwhile, or are lost.
static enum follow_end follow_pass_over(struct follow *follow, uint64_t unit,
                                        struct rows_lease *lease)
{
    bool elsewhere;
    enum follow_end end = follow_look_closely(follow, lease, &elsewhere);
    // The rest of the unit that was read last may have been removed.
    bool rest_removed = follow->follows_on && lease->oldest > follow->last_unit;

    if (elsewhere || follow_has_all(follow, lease)) {
        return end;
    }
    if (lease->oldest <= unit && !rest_removed && follow_may_look_again(follow)) {
        return FOLLOW_DONE;
    }
    follow->follows_on = false;
    if (lease->oldest > unit || rest_removed) {
        follow_forget_removed(follow);
        follow->next_unit = lease->oldest;
        return FOLLOW_DONE;
    }
    // The rows may be of another server: reading everything again shows that.
    if (follow->changed && !follow->journal->settings.repair) {
        return FOLLOW_ASTRAY;
    }
    if (!follow_loses(follow, unit, follow->seq + 1,
                      "the row is missing, or is not the next one")) {
        return FOLLOW_FAILED;
    }
    if (!follow_keep_place(follow, unit)) {
        return FOLLOW_FAILED;
    }
    follow->unit = NULL;
    follow->next_unit = unit + 1;
    follow->last_unit = unit;
    follow->last.known = false;
    follow->seq = unit < lease->unit ? follow->seq : lease->seq;
    return FOLLOW_DONE;
}

static enum follow_end follow_read_unit(struct follow *follow, uint64_t unit)
{
    struct pg *pg = pg_of(follow->journal);
    uint64_t after = follow->unit && follow->unit->number == unit ? follow->seq : 0;
    enum rows_outcome outcome;

    follow->gap = false;
    follow->bad = false;
    outcome = pg_ops(pg)->read(pg->settings.rows, unit, after, follow_take_row, follow);
    if (progress_stops(&follow->journal->progress) || outcome == ROWS_STOPPED) {
        return FOLLOW_STOPPED;
    }
    if (follow->failed) {
        return FOLLOW_FAILED;
    }
    follow->refused = outcome == ROWS_REFUSED;
    return outcome == ROWS_DONE ? FOLLOW_DONE : FOLLOW_AWAY;
}

// The unit with the next row.
static uint64_t follow_unit_to_read(const struct follow *follow, const struct rows_lease *lease)
{
    if (follow->unit) {
        return follow->unit->number;
    }
    return follow->next_unit > lease->oldest ? follow->next_unit : lease->oldest;
}

// Reads the unit's rows. A unit that was begun is read to its end; the next one continues it.
static enum follow_end follow_unit(struct follow *follow, uint64_t unit, struct rows_lease *lease)
{
    enum follow_end end = follow_read_unit(follow, unit);
    bool read = follow->unit && follow->unit->number == unit;

    if (end != FOLLOW_DONE) {
        return end;
    }
    if (follow->bad) {
        return follow_pass_over_rest(follow, unit, lease);
    }
    // Numbers of units are passed over after a loss: the next unit must have the next seq,
    // otherwise it is damaged.
    if (!read && !follow->gap && follow->follows_on && unit < lease->unit) {
        follow->next_unit = unit + 1;
        return FOLLOW_DONE;
    }
    if (follow->gap || !read || (unit >= lease->unit && follow->seq < lease->seq)) {
        return follow_pass_over(follow, unit, lease);
    }
    if (unit < lease->unit) {
        if (record_reader_is_partial(&follow->reader) &&
            !follow_loses(follow, unit, follow->seq, "the unit ends within a record")) {
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
    // Rows added meanwhile are for the next call: there may be as many as are read.
    const struct rows_lease goal = *lease;
    enum follow_end end;

    follow->lease = lease;
    end = follow_check_history(follow);
    if (end != FOLLOW_DONE || follow->ahead) {
        return end;
    }
    follow_forget_removed(follow);
    // After a unit was removed before it was read, the next seq is unknown.
    follow->follows_on &= follow->unit || follow->next_unit >= lease->oldest;
    while (end == FOLLOW_DONE && !follow->ahead && !follow_has_all(follow, &goal) &&
           !follow_has_all(follow, lease)) {
        broker_restore_now(follow->journal->broker, pg->settings.clock());
        end = follow_unit(follow, follow_unit_to_read(follow, lease), lease);
        if (end == FOLLOW_DONE && follow_is_time_to_look(follow)) {
            end = follow_look_again(follow, lease);
        }
        // Another process may have taken the lease meanwhile.
        if (end == FOLLOW_DONE) {
            end = follow_check_history(follow);
        }
    }
    ownership_set_seq(&pg->ownership, follow->seq);
    return end;
}

void follow_clear(struct follow *follow)
{
    record_reader_clear(&follow->reader);
}
