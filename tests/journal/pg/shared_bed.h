/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_PG_SHARED_BED_H
#define TANDEM_TESTS_JOURNAL_PG_SHARED_BED_H

// Processes that share a journal in a database in memory, in virtual time: each has a broker and a
// journal. While one follows, which is a call that does not return, the test's own function is
// called each time that it waits, and has the others work.

#include "journal/journal.h"
#include "journal/pg/pg.h"
#include "tests/journal/pg/fake_rows.h"
#include "tests/support/with_cmocka.h"

#define SEC(n) ((nsec_t)(n)*NSEC_PER_SEC)
#define MSEC(n) ((nsec_t)(n)*NSEC_PER_MSEC)
#define TTL_FOR SEC(5)

struct shared_bed;

struct member {
    struct shared_bed *bed;
    const char *name;
    struct fake_rows *rows; // NULL: it is not open
    struct storage *storage;
    struct journal *journal;
    struct broker *broker;
    struct session *session;
    struct error_text why;
    void (*made)(struct member *self);   // before it opens; may be NULL
    void (*script)(struct member *self); // called when it waits
    unsigned step;                       // how often it has waited
    uint64_t last;                       // the position of the last record
    bool lost;                           // another may have it, for which it is not open
    bool only_follows;                   // it never takes the lease
    bool closed_well;                    // it ended in good order, and said so
    char own_name[16];                   /* private */
};

struct shared_bed {
    struct fake_db *db;
    struct member a, b;
    uint64_t segment_size; // 0: 64 KiB
    bool repair;
    bool yields; // opening lets other processes take the lease first
    bool again;  // ... and has served before
    bool names;  // each opening has a name of its own, as it has in the broker
    enum pg_demand demand;
    uint64_t made; // members, so far
};

struct shared_bed *shared_bed_new(void);
void shared_bed_free(struct shared_bed *bed);

// Time passes for the database and all processes, of which none does anything.
void shared_pass(struct shared_bed *bed, nsec_t by_for);
// The time on the clocks of all processes.
nsec_t shared_now(void);

// Opens: returns when the process owns the journal. False: member->why.
bool member_open(struct member *member) MUST_USE;
// Ends it in good order.
void member_close(struct member *member);
// Ends it at once.
void member_kill(struct member *member);
// Turns until nothing is left to be done at this moment.
void member_turns(struct member *member);
// Time passes, in which it has its turns.
void member_pass(struct member *member, nsec_t by_for);
// The same until all that was appended is acknowledged, which takes a moment.
void member_wait(struct member *member);

// The id; 0: the job was refused. The body has that length.
uint64_t member_put(struct member *member, const char *queue, size_t len);
void member_end(struct member *member, uint64_t id);
void member_pause(struct member *member, const char *queue, nsec_t pause_for);
// A memo under that key, until that moment of the wall clock.
void member_remember(struct member *member, const char *key, nsec_t until_at);
void member_forget(struct member *member, const char *key);
uint64_t member_memos(const struct member *member);
uint64_t member_pauses(const struct member *member);
bool member_has(const struct member *member, uint64_t id);
uint64_t member_count(const struct member *member);
// Whether all that was appended has been acknowledged.
bool member_acknowledged(const struct member *member);
bool member_may_answer(const struct member *member);
// Whether the database has not failed over since it was written to.
bool member_has_same_database(const struct member *member);
// Whether the database has all that it has in memory.
bool member_is_sound(const struct member *member);

// The same as member_open(), which must be good.
void member_begin(struct member *member);
// Of a follower: kills the first member as soon as it waits.
void shared_kill_first_at_once(struct member *self);
// A job that was accepted, and acknowledged.
uint64_t member_put_kept(struct member *member, size_t len);
// Submits and completes jobs until that many units were removed.
void member_churn(struct member *member, uint64_t removed);
// Submits jobs until the next unit has been begun.
void member_begin_next_unit(struct member *member);

#endif
