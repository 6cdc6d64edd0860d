/* SPDX-License-Identifier: MIT */

// Whether the rows that were read are still those of the database. One that fails over to a server
// which lacks the last of them gives their numbers, that of their unit, and even the epoch, to
// others. Their owner notices, and writes anew what lives; a process that has followed goes on with
// that. But where yet another takes the lease meanwhile, what was read is of no use any more. It
// has begun a unit: that has the number of one that was read, or goes on with a row that was.

#include "journal/pg/follow.h"

#include <string.h>

bool follow_is_others(const struct follow *follow)
{
    const char *holder = follow->lease->holder;

    return follow->holder[0] != '\0' && strcmp(holder, follow->holder) != 0 &&
           strcmp(holder, pg_of(follow->journal)->settings.node) != 0;
}

struct head {
    uint64_t salt;
    bool found;
};

static bool take_head(void *context, const struct rows_row *row)
{
    struct head *head = context;
    struct segment_head read;

    head->found = row->len >= CODEC_SEGMENT_HEAD &&
                  codec_read_segment_head(row->bytes, &read) == CODEC_HEAD_GOOD &&
                  read.number == row->unit;
    head->salt = head->found ? read.salt : 0;
    return false;
}

// Whether the unit that was read last is the one that is there; one that was removed may have been.
static enum follow_end check_unit(const struct follow *follow)
{
    const struct segments *segments = &follow->journal->row.segments;
    const struct pg *pg = pg_of(follow->journal);
    const struct segment *segment;
    struct head head = {.found = false};
    enum rows_outcome outcome;

    if (follow->last_unit < follow->lease->oldest || follow->last_unit < segments->first ||
        follow->last_unit >= segments->first + segments->count) {
        return FOLLOW_DONE;
    }
    segment = segments->list[follow->last_unit - segments->first];
    // It has none where it stands for what is damaged.
    if (segment->salt == 0) {
        return FOLLOW_DONE;
    }
    outcome = pg_ops(pg)->read(pg->settings.rows, follow->last_unit, 0, take_head, &head);
    if (outcome != ROWS_DONE) {
        return outcome == ROWS_STOPPED ? FOLLOW_STOPPED : FOLLOW_AWAY;
    }
    return head.found && head.salt == segment->salt ? FOLLOW_DONE : FOLLOW_ASTRAY;
}

enum follow_end follow_check_history(struct follow *follow)
{
    const struct rows_lease *lease = follow->lease;
    enum follow_end end;

    if (!follow_is_others(follow) || strcmp(lease->holder, follow->checked) == 0) {
        return FOLLOW_DONE;
    }
    end = check_unit(follow);
    if (end == FOLLOW_DONE) {
        memcpy(follow->checked, lease->holder, sizeof follow->checked);
    }
    return end;
}

// Not where the database has fewer rows than were read: whoever has the lease then may not have
// begun to add its own.
void follow_note_history(struct follow *follow)
{
    if (follow->seq > follow->lease->seq) {
        return;
    }
    memcpy(follow->holder, follow->lease->holder, sizeof follow->holder);
}
