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
    FOLLOW_DONE,   // all rows are read that the lease knows of, or more: `ahead`
    FOLLOW_AWAY,   // the database cannot be reached; it goes on from here later
    FOLLOW_FAILED, // the reason is said
    FOLLOW_ASTRAY, // what was read is lost, and another owner goes on without it
    FOLLOW_STOPPED
};

// What was read when the unit began from which on all that lives is being written anew.
struct follow_renewal {
    uint64_t history; // of the lease since then; 0: there was no such unit
    uint64_t was;     // ... and before
    uint64_t seq;     // of the last row of before that was read
};

// By which a row is known again.
struct follow_last {
    size_t len;
    uint64_t epoch; // of the lease of whoever added it
    uint32_t sum;
    bool known;
};

// Whose the lease was. Whoever takes it, does so at a moment: two that are the same are of one
// taking, since which nobody else has added anything.
struct follow_holder {
    char name[ROWS_NAME_MAX];
    uint64_t since_ms;
    uint64_t epoch;
};

struct follow {
    struct journal *journal;
    struct error_text *why;
    struct seen seen;
    struct feed feed;
    struct segment *unit;           // that is being read, the youngest of the row; NULL: none yet
    uint64_t seq;                   // of the last row that was read
    uint64_t last_unit;             // of that row
    uint64_t next_unit;             // where reading begins when `unit` is NULL
    uint64_t records;               // that were read
    nsec_t looked_at;               // when the lease was looked at last, by the boot-time clock
    const struct rows_lease *lease; /* private: as it was then */
    struct follow_holder holder;    /* private: when what was read was in it last */
    struct follow_holder former;    // before this process took it
    uint64_t history;               // of the lease then
    uint64_t anew_below; // all that lives is written anew from this unit on; 0: it is not
    uint64_t renewal;    /* private: nothing of that unit was read yet; 0: it does not matter */
    struct follow_renewal past; /* private: before all was written anew */
    uint64_t owed;      /* private: until this row is read, not all that lives was; 0: it was */
    uint64_t owed_from; /* private: ... for that was the oldest unit */
    bool ahead;         // the database lacks rows that were read
    bool known;         /* private: there was such a lease */
    struct follow_last last; /* private: the row that was read last */
    uint64_t at_seq;         /* private: of the row that is being read */
    bool changed;            /* private: it was another's meanwhile, or another server was there */
    uint64_t missed;         /* private: what comes behind it was looked for in vain ... */
    unsigned looks;          /* private: ... so often */
    bool bad;                /* private: a record of it does not check */
    unsigned moves;          /* private: how often reading went on elsewhere */
    bool follows_on;         // the next row has the next number
    bool gap;                /* private: a row was not the one that was expected */
    bool damaged;            // something was passed over, as the operator wished
    bool rest_lost;          /* private: what else the unit has is passed over */
    bool refused;            // the database would not let it read
    bool failed;             /* private */
};

// How often who follows looks at the lease, though nobody wakes it.
nsec_t follow_look_every(const struct pg *pg);

// Reads all rows up to those that `lease` sums up. `lease` is read anew where that is needed, and
// between two units when it is time to: reading may last longer than a lease.
enum follow_end follow_rows(struct follow *follow, struct rows_lease *lease) MUST_USE;
void follow_clear(struct follow *follow);

// Whether what was read belongs to what the database has now (JOURNAL.md), and where reading goes
// on. FOLLOW_DONE, _ASTRAY, _AWAY, _STOPPED.
enum follow_end follow_check_history(struct follow *follow) MUST_USE;
// From the oldest unit on all that lives will have been read when all rows are that there are now.
void follow_owe(struct follow *follow);
// Reading goes on behind the row that was read last, also where its unit was read to its end.
void follow_go_back(struct follow *follow);
// This process is about to take the lease.
void follow_note_taking(struct follow *follow, const struct rows_lease *lease);
// A unit begins from which on all that lives is being written anew.
void follow_note_renewal(struct follow *follow, const struct unit_head *head);
// The row was read.
void follow_note_row(struct follow *follow, const struct rows_row *row);

// A unit is removed when nothing that lives is in it. Whoever has read all rows so far knows that
// already. Whoever has not may have missed how jobs of it ended, where that stood in another one
// that was removed: what is left of it here is gone. What lives comes again in a younger one.
// Whether anything was left.
bool follow_forget_below(struct follow *follow, uint64_t oldest);
// The same for what the database has removed. Until what has come again is read, it lacks that;
// where none of what was read is there any more, reading begins anew.
void follow_forget_removed(struct follow *follow);

#endif
