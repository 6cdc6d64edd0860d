/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_FOLLOW_H
#define TANDEM_JOURNAL_PG_FOLLOW_H

// Following: reads rows, from the beginning or from the last row read, and gives their records to
// the broker and the ledger. Units are read in order, and each continues the one before. If a unit
// was removed meanwhile, its content was not needed any more, or is in a later unit.

#include "core/base/error_text.h"
#include "journal/apply.h"
#include "journal/pg/pg_private.h"
#include "journal/pg/record_reader.h"

enum follow_end {
    FOLLOW_DONE,   // all rows known to the lease are read; or more, see `ahead`
    FOLLOW_AWAY,   // the database cannot be reached; to be continued later
    FOLLOW_FAILED, // the reason is set
    FOLLOW_ASTRAY, // rows that were read are lost, and another owner goes on without them
    FOLLOW_STOPPED
};

// The state before the unit from which on all live content is being rewritten.
struct follow_rewrite {
    uint64_t history; // of the lease since that unit; 0: there was none
    uint64_t was;     // ... and before it
    uint64_t seq;     // of the last row before it that was read
};

// Identifies the row that was read last.
struct follow_last {
    size_t len;
    uint64_t epoch; // of the process that added it
    uint32_t sum;
    bool known;
};

// A holder of the lease. The same holder with the same `since_ms` is one taking of the lease, since
// which no other process has added rows.
struct follow_holder {
    char name[ROWS_NAME_MAX];
    uint64_t since_ms;
    uint64_t epoch;
};

struct follow {
    struct journal *journal;
    struct error_text *why;
    struct replay_ids seen;
    struct record_reader reader;
    struct segment *unit;           // being read, the youngest in the list; NULL: none yet
    uint64_t seq;                   // of the last row read
    uint64_t last_unit;             // of that row
    uint64_t next_unit;             // where reading continues if `unit` is NULL
    uint64_t records;               // read so far
    nsec_t looked_at;               // when the lease was read last, by the boot-time clock
    const struct rows_lease *lease; /* private: as it was then */
    struct follow_holder holder;    /* private: when the database last had all that was read */
    struct follow_holder former;    // before this process took the lease
    uint64_t history;               // of the lease at the time of `holder`
    uint64_t rewrite_from; // live content is being rewritten from this unit on; 0: it is not
    uint64_t rewrite;      /* private: nothing of that unit was read yet; 0: not applicable */
    struct follow_rewrite before; /* private: before the rewrite */
    uint64_t owed;           /* private: until this row is read, live content is missing; 0: no */
    uint64_t owed_from;      /* private: ... and the oldest unit then */
    bool ahead;              // rows were read that the database does not have any more
    bool known;              /* private: `holder` and `history` are set */
    struct follow_last last; /* private: the row that was read last */
    uint64_t at_seq;         /* private: of the row that is being read */
    bool changed;            /* private: meanwhile there was another holder, or another server */
    uint64_t missed;         /* private: the row after this one was not found ... */
    unsigned looks;          /* private: ... so often */
    bool bad;                /* private: one of its records is invalid */
    unsigned moves;          /* private: how often reading continued elsewhere */
    bool follows_on;         // the next row has the next number
    bool gap;                /* private: a row was not the expected one */
    bool damaged;            // damage was passed over, as the operator wished
    bool rest_lost;          /* private: the rest of the unit is passed over */
    bool refused;            // the database refused reading
    bool failed;             /* private */
};

// How often a standby reads the lease without being woken.
nsec_t follow_look_every(const struct pg *pg);

// Reads all rows up to the last one known to `lease`. Reads `lease` again if necessary and, since
// reading may take longer than a lease lasts, between units when it is time.
enum follow_end follow_rows(struct follow *follow, struct rows_lease *lease) MUST_USE;
void follow_clear(struct follow *follow);
// This process is about to take the lease.
void follow_note_taking(struct follow *follow, const struct rows_lease *lease);

//
// Whether the rows that were read belong to what the database has now (follow_history.c)
//

// Checks that (JOURNAL.md), and sets where reading continues. FOLLOW_DONE, _ASTRAY, _AWAY,
// _STOPPED.
enum follow_end follow_check_history(struct follow *follow) MUST_USE;
// All live content will have been read once all present rows from the oldest unit on are read.
void follow_owe(struct follow *follow);
// Reading continues after the row that was read last, even if its unit was read to its end.
void follow_go_back(struct follow *follow);
// A unit begins from which on all live content is being rewritten.
void follow_note_rewrite(struct follow *follow, const struct unit_head *head);
// The row was read.
void follow_note_row(struct follow *follow, const struct rows_row *row);

#endif
