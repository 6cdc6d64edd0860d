/* SPDX-License-Identifier: MIT */

// Checks whether the rows that were read belong to the present content of the database. After a
// failover to a server without the last rows, the database has lost transactions, and uses their
// seq, their unit and even the epoch again for others.

#include "journal/pg/follow.h"

#include "core/base/log.h"

#include <isa-l/crc.h>

#include <stdio.h>
#include <string.h>

static enum follow_end follow_end_of(enum rows_outcome outcome)
{
    if (outcome == ROWS_DONE) {
        return FOLLOW_DONE;
    }
    return outcome == ROWS_STOPPED ? FOLLOW_STOPPED : FOLLOW_AWAY;
}

static uint32_t follow_sum(const struct rows_row *row)
{
    // The library takes a pointer that is not const; no row is too long for an int.
    return crc32_iscsi((unsigned char *)(uintptr_t)row->bytes, (int)row->len, (uint32_t)row->epoch);
}

void follow_note_row(struct follow *follow, const struct rows_row *row)
{
    follow->seq = row->seq;
    follow->last_unit = row->unit;
    follow->rewrite = 0;
    follow->last = (struct follow_last){
        .len = row->len, .epoch = row->epoch, .sum = follow_sum(row), .known = true};
}

//
// What the database has
//

struct follow_search {
    const struct follow *follow;
    bool found;
};

// Checksums are seeded with the salt of the unit and the offset: another row, or a row of another
// unit with this number, has another sum.
static bool follow_take_last(void *context, const struct rows_row *row)
{
    struct follow_search *search = context;
    const struct follow *follow = search->follow;

    search->found = row->seq == follow->seq && row->len == follow->last.len &&
                    follow_sum(row) == follow->last.sum;
    return false;
}

static enum follow_end follow_find_last(const struct follow *follow, bool *found)
{
    const struct pg *pg = pg_of(follow->journal);
    struct follow_search search = {.follow = follow};
    enum rows_outcome outcome = pg_ops(pg)->read(pg->settings.rows, follow->last_unit,
                                                 follow->seq - 1, follow_take_last, &search);

    *found = search.found;
    return follow_end_of(outcome);
}

// Leaves the head zeroed if there is none.
static bool follow_take_head(void *context, const struct rows_row *row)
{
    struct unit_head *head = context;

    if (row->len < CODEC_SEGMENT_HEAD ||
        codec_read_unit_head(row->bytes, head) != CODEC_HEAD_GOOD || head->number != row->unit) {
        *head = (struct unit_head){0};
    }
    return false;
}

static enum follow_end follow_read_head(const struct follow *follow, uint64_t unit,
                                        struct unit_head *head)
{
    const struct pg *pg = pg_of(follow->journal);

    *head = (struct unit_head){0};
    return follow_end_of(pg_ops(pg)->read(pg->settings.rows, unit, 0, follow_take_head, head));
}

static struct segment *follow_unit_of(const struct follow *follow, uint64_t number)
{
    const struct segment_list *segments = &follow->journal->segments.list;

    return segments->count > 0 && number >= segments->first &&
                   number < segments->first + segments->count
               ? segments->items[number - segments->first]
               : NULL;
}

//
// What it means
//

void follow_owe(struct follow *follow)
{
    follow->owed = follow->lease->seq;
    follow->owed_from = follow->lease->oldest;
}

static struct follow_holder follow_holder_in(const struct rows_lease *lease)
{
    struct follow_holder holder = {.since_ms = lease->since_ms, .epoch = lease->epoch};

    memcpy(holder.name, lease->holder, sizeof holder.name);
    return holder;
}

void follow_note_taking(struct follow *follow, const struct rows_lease *lease)
{
    follow->former = follow_holder_in(lease);
}

// While this process has the lease, no other process has had it since.
static struct follow_holder follow_holder_now(const struct follow *follow)
{
    const struct rows_lease *lease = follow->lease;

    return strcmp(lease->holder, pg_of(follow->journal)->settings.node) == 0
               ? follow->former
               : follow_holder_in(lease);
}

static bool follow_is_same_taking(const struct follow_holder *a, const struct follow_holder *b)
{
    return strcmp(a->name, b->name) == 0 && a->since_ms == b->since_ms;
}

static bool follow_is_as_before(const struct follow *follow)
{
    const struct follow_holder holder = follow_holder_now(follow);

    return follow->known && follow_is_same_taking(&holder, &follow->holder) &&
           follow->lease->history == follow->history;
}

// If a server of the database does not know that its holder has taken the lease, the holder takes
// it again there. The content of that server may be of other processes, unknown to the holder. Rows
// that the holder itself added elsewhere, up to the last row read, are not lost as long as the
// holder, or a process that has read them, goes on.
static bool follow_is_taken_again(const struct follow *follow)
{
    const struct follow_holder holder = follow_holder_now(follow);

    return strcmp(holder.name, follow->holder.name) == 0 &&
           holder.since_ms != follow->holder.since_ms && follow->last.known &&
           follow->last.epoch == follow->holder.epoch;
}

// On another server, a unit that was read to its end may be the youngest again, or have more rows,
// and other units may follow it.
void follow_go_back(struct follow *follow)
{
    if (!follow->unit && follow->last.known && follow->rewrite == 0) {
        follow->unit = follow_unit_of(follow, follow->last_unit);
        follow->follows_on = follow->unit != NULL;
        follow->next_unit = follow->last_unit + 1;
    }
}

// Not that of the lease: none of its rows may have been read yet.
static uint64_t follow_history_of_last(const struct follow *follow)
{
    const struct segment *last = follow_unit_of(follow, follow->last_unit);

    return last ? last->history : 0;
}

static enum follow_end follow_agree(struct follow *follow)
{
    const struct follow_holder holder = follow_holder_now(follow);

    follow->changed |= follow->last_unit > 0 && (!follow_is_same_taking(&holder, &follow->holder) ||
                                                 follow->history != follow->lease->history);
    if (!follow_is_as_before(follow) || follow->lease->unit == follow->last_unit) {
        follow_go_back(follow);
    }
    if (follow->owed > 0 && !follow_is_as_before(follow)) {
        follow_owe(follow);
    }
    follow->holder = holder;
    follow->history = follow->lease->history;
    follow->known = true;
    return FOLLOW_DONE;
}

void follow_note_rewrite(struct follow *follow, const struct unit_head *head)
{
    const struct segment *last = follow_unit_of(follow, follow->last_unit);

    follow->before = (struct follow_rewrite){
        .history = head->history, .was = last ? last->history : 0, .seq = follow->seq};
}

// During a rewrite: whether the part that was read does not replace what the database has, which is
// in the state before and has more rows than were read.
static bool follow_lacks_rewrite(const struct follow *follow)
{
    const struct segment_list *segments = &follow->journal->segments.list;
    const struct rows_lease *lease = follow->lease;
    bool renewed = segments->count == 0 || segments->first >= follow->rewrite_from;

    return !renewed && lease->history < follow->before.history &&
           (lease->history > follow->before.was || lease->seq > follow->before.seq);
}

// The database has fewer rows than were read. If the process that added its last row also added
// those that were read, and no other process has begun a unit since, the rows are only lost.
static enum follow_end follow_find_ahead(struct follow *follow)
{
    const struct rows_lease *lease = follow->lease;
    const struct segment *unit = follow_unit_of(follow, lease->unit);
    const struct follow_holder holder = follow_holder_now(follow);
    struct unit_head head;
    enum follow_end end;

    if (lease->history > follow->history || follow_lacks_rewrite(follow)) {
        return FOLLOW_DONE;
    }
    if (lease->unit == 0 || follow_is_same_taking(&holder, &follow->holder) ||
        follow_is_taken_again(follow)) {
        follow->ahead = true;
        return FOLLOW_DONE;
    }
    end = follow_read_head(follow, lease->unit, &head);
    follow->ahead = end == FOLLOW_DONE && unit && unit->salt != 0 && unit->salt == head.salt;
    return end;
}

// The database goes on without rows that were read. If the process that added them has noticed that
// and rewrites all live content, those rows remain valid, and reading continues where the rewrite
// begins. Otherwise they must be forgotten.
static enum follow_end follow_find_rewrite(struct follow *follow)
{
    const struct segment *last = follow_unit_of(follow, follow->last_unit);
    struct unit_head head;
    enum follow_end end = follow_read_head(follow, follow->lease->unit, &head);
    uint64_t from = head.rewrite_from;

    if (end == FOLLOW_DONE && from != 0 && from != head.number) {
        end = follow_read_head(follow, from, &head);
    }
    if (end != FOLLOW_DONE) {
        return end;
    }
    if (follow->owed > 0 || from <= follow->last_unit || !last || last->owner == 0 ||
        head.owner != last->owner) {
        return FOLLOW_ASTRAY;
    }
    log_warn(
        "journal_stepped_back", log_number("unit", (int64_t)from),
        log_number("seq", (int64_t)follow->lease->seq), log_number("read", (int64_t)follow->seq),
        log_string("why", "the database was not replicated, and has lost rows that were read"));
    follow->unit = NULL;
    follow->next_unit = from;
    follow->rewrite = from;
    follow->follows_on = false;
    follow->moves++;
    return follow_agree(follow);
}

enum follow_end follow_check_history(struct follow *follow)
{
    const struct rows_lease *lease = follow->lease;
    enum follow_end end;
    bool found = false;

    follow->ahead = false;
    follow->owed = follow->seq < follow->owed ? follow->owed : 0;
    if (follow->last_unit == 0) {
        follow->next_unit = 0;
        follow_owe(follow);
        return follow_agree(follow);
    }
    if (follow_is_as_before(follow) && lease->seq >= follow->seq && lease->seq >= follow->owed) {
        return follow_agree(follow);
    }
    // Content that was not read because it would come again may exist only at its old place.
    if (follow->owed > 0 && (lease->oldest < follow->owed_from || lease->seq < follow->seq ||
                             lease->history < follow_history_of_last(follow))) {
        return FOLLOW_ASTRAY;
    }
    // Everything that was read has been removed.
    if (follow->last_unit < lease->oldest) {
        follow->follows_on = false;
        return follow_agree(follow);
    }
    // There is no last row to compare, because it was damaged.
    if (!follow->last.known) {
        return FOLLOW_DONE;
    }
    // During a rewrite, of which nothing was read yet.
    if (follow->rewrite > 0 && follow_is_as_before(follow)) {
        return FOLLOW_DONE;
    }
    if (lease->seq < follow->seq || lease->history < follow_history_of_last(follow)) {
        end = follow_find_ahead(follow);
        return end != FOLLOW_DONE || follow->ahead ? end : follow_find_rewrite(follow);
    }
    end = follow_find_last(follow, &found);
    if (end != FOLLOW_DONE) {
        return end;
    }
    if (found) {
        return follow_agree(follow);
    }
    // Before it has rewritten the live content, the holder has added nothing there.
    follow->ahead = follow->owed == 0 && lease->history <= follow->history &&
                    follow_is_taken_again(follow) && !follow_lacks_rewrite(follow);
    return follow->ahead ? FOLLOW_DONE : follow_find_rewrite(follow);
}
