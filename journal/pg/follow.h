/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_FOLLOW_H
#define TANDEM_JOURNAL_PG_FOLLOW_H

// Reading rows, from the beginning or from where it came to: records go to the broker and to the
// books. Units are read one after the other, and each follows on the one before; where one has been
// removed meanwhile, what it had was of no use any more, or stands in a younger one.

#include "journal/apply.h"
#include "journal/pg/feed.h"
#include "journal/pg/pg.h"

enum follow_end {
    FOLLOW_DONE,   // all rows are read that the lease knows of
    FOLLOW_AWAY,   // the database cannot be reached; it goes on from here later
    FOLLOW_FAILED, // the reason is said
    FOLLOW_ASTRAY, // what was read is lost, and another owner goes on without it
    FOLLOW_STOPPED
};

struct follow {
    struct journal *journal;
    struct journal_error *why;
    struct seen seen;
    struct feed feed;
    struct segment *unit;           // that is being read, the youngest of the row; NULL: none yet
    uint64_t seq;                   // of the last row that was read
    uint64_t last_unit;             // of that row
    uint64_t next_unit;             // where reading begins when `unit` is NULL
    uint64_t records;               // that were read
    nsec_t looked_at;               // when the lease was looked at last, by the boot-time clock
    const struct rows_lease *lease; /* private: as it was then */
    char holder[ROWS_NAME_MAX];     /* private: whose it was when all was read; empty: never */
    char checked[ROWS_NAME_MAX];    /* private: the other for whom that was looked at last */
    bool astray;                    /* private */
    bool follows_on;                // the next row has the next number
    bool gap;                       /* private: a row was not the one that was expected */
    bool damaged;                   // something was passed over, as the operator wished
    bool rest_lost;                 /* private: what else the unit has is passed over */
    bool refused;                   // the database would not let it read
    bool failed;                    /* private */
};

// How often who follows looks at the lease, though nobody wakes it.
nsec_t follow_look_every(const struct pg *pg);

// Reads all rows up to those that `lease` sums up. `lease` is read anew where that is needed, and
// between two units when it is time to: reading may last longer than a lease.
enum follow_end follow_rows(struct follow *follow, struct rows_lease *lease) MUST_USE;
void follow_clear(struct follow *follow);

// Whether another owns the lease than when all was read last: neither that one nor this process.
bool follow_is_others(const struct follow *follow);
// Whether what was read is still there where that is so. FOLLOW_DONE, _ASTRAY, _AWAY, _STOPPED.
enum follow_end follow_check_history(struct follow *follow) MUST_USE;
// All was read that there is.
void follow_note_history(struct follow *follow);

// A unit is removed when nothing that lives is in it. Whoever has read all rows so far knows that
// already. Whoever has not may have missed how jobs of it ended, where that stood in another one
// that was removed: what is left of it here is gone. What lives comes again in a younger one.
void follow_forget_below(struct follow *follow, uint64_t oldest);

#endif
