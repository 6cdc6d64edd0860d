/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_JOURNAL_BED_H
#define TANDEM_TESTS_JOURNAL_JOURNAL_BED_H

// A broker with a journal on a disk in memory, in virtual time: what the process would be, without
// its front-ends. One session works for all; a book (book.h) is kept of everything.
//
// The disk may fail, the process may be killed and the power cut at any moment; what is left is
// given to a new broker and compared with the book.

#include "journal/journal.h"
#include "tests/journal/book.h"
#include "tests/journal/fake_worker.h"
#include "tests/journal/file/fake_disk.h"
#include "tests/support/with_cmocka.h"

#define SEC(n) ((nsec_t)(n)*NSEC_PER_SEC)
#define MSEC(n) ((nsec_t)(n)*NSEC_PER_MSEC)

enum { BED_QUEUES = 4 };

// The name of a queue, "q0" and so on.
struct slice bed_queue(int queue);

#define assert_status(expected, actual)                                                            \
    assert_string_equal(status_text(expected), status_text(actual))

struct bed_options {
    nsec_t sync_every_for; // 0: always
    uint64_t segment_size; // 0: as small as can be with the longest body
    uint64_t step_size;    // 0: more than any file has
    size_t body_max;       // 0: 3000
    size_t max_pending;    // 0: much
    nsec_t fail_for;       // 0: 5 seconds
    const char *host;      // NULL: unknown
    bool no_book;          // for jobs beyond number
    bool repair;           // what is damaged is taken over as far as it is good
    bool bounded;          // asserts after each turn that the disk is not used beyond measure
};

struct bed {
    struct bed_options options;
    struct fake_disk *disk;
    struct journal_io io;
    struct fake_worker disk_worker;
    struct journal *journal; // NULL: not open
    struct broker *broker;
    struct session *worker; // subscribed to all queues
    struct instant now;
    struct book *book;
    struct error_text why;
    uint64_t reached;   // at the end of the last turn
    uint64_t last;      // the position of the last record
    uint64_t timeouts;  // leases that had ended by time then
    uint64_t serial;    // of the last body
    uint64_t left;      // what the process that was abandoned last had reached
    uint64_t left_safe; // ... and what of it no power cut takes away
    unsigned gave_up;   // how often
    unsigned turns;     // that were checked
    uint64_t most_used; // BOUNDED: bytes on the disk at worst
};

// A bed whose journal is open, on an empty disk.
struct bed *bed_new(const struct bed_options *options);
#define BED(...) bed_new(&(const struct bed_options){__VA_ARGS__})
// The same, but not open.
struct bed *bed_new_closed(const struct bed_options *options);
void bed_free(struct bed *bed);

// Starts a broker from what the disk has. False: bed->why; nothing is open then.
bool bed_open(struct bed *bed) MUST_USE;
// Opens the session. False without memory.
bool bed_begin_work(struct bed *bed) MUST_USE;
// Ends the process in good order; what journal_close() said.
bool bed_close(struct bed *bed);
// Ends the process at once; the disk stays as it is.
void bed_abandon(struct bed *bed);
// The same, and frees the disk.
void bed_discard(struct bed *bed);

//
// Time
//

// Ticks, settles, and lets the journal have its turn.
void bed_turn(struct bed *bed);
// Notes in the book the attempts of leases that have ended: they have no record.
void bed_note_attempts(struct bed *bed);
// Turns until nothing is left to be done at this moment; returns their number. Fails if that never
// happens.
unsigned bed_turns(struct bed *bed);
// Lets time pass, with turns for all that falls due.
void bed_pass(struct bed *bed, nsec_t by_for);

//
// Verbs, without a turn
//

struct bed_put {
    int queue;
    uint32_t pri;
    nsec_t delay_for;
    nsec_t at; // wall
    nsec_t ttr_for;
    const char *key;
    const char *reducer;
    size_t body_len;
    bool fleeting;
    enum on_fail on_fail;
    uint32_t max_attempts;
};

// The id; 0: the job was refused.
#define BED_PUT(bed, ...) bed_put((bed), &(const struct bed_put){__VA_ARGS__})
uint64_t bed_put(struct bed *bed, const struct bed_put *put);
// The same with the status.
enum status bed_try_put(struct bed *bed, const struct bed_put *put, uint64_t *id);

uint64_t bed_take(struct bed *bed); // 0: none is ready
enum status bed_take_id(struct bed *bed, uint64_t id);
enum status bed_complete(struct bed *bed, uint64_t id);
enum status bed_fail(struct bed *bed, uint64_t id);
enum status bed_release(struct bed *bed, uint64_t id, uint32_t pri, nsec_t delay_for);
enum status bed_bury(struct bed *bed, uint64_t id, uint32_t pri);
enum status bed_cancel(struct bed *bed, uint64_t id);
// An operator's verb.
#define BED_ACT(bed, id, ...) bed_act((bed), (id), &(const struct job_act){__VA_ARGS__})
enum status bed_act(struct bed *bed, uint64_t id, const struct job_act *act);
uint32_t bed_kick(struct bed *bed, int queue, uint32_t bound);
enum status bed_kick_id(struct bed *bed, uint64_t id);
enum status bed_pause(struct bed *bed, int queue, nsec_t pause_for);
// Sets a memo under the key of that number, with a value of that length; `until` 0: without an end.
enum status bed_remember(struct bed *bed, enum memo_kind kind, int key, size_t len, nsec_t until);
enum status bed_forget(struct bed *bed, enum memo_kind kind, int key);
// Keeps the lease of a held job, if there is space.
void bed_keep_lease(struct bed *bed, uint64_t id);
// After a start: the worker has the jobs again whose leases were kept.
void bed_resume_leases(struct bed *bed);
// Replaces the worker by another one: the leases end.
void bed_lose(struct bed *bed);

// Whether the position of the last record has been reached.
bool bed_acknowledged(const struct bed *bed);
struct store_info bed_info(const struct bed *bed);
uint64_t bed_count(const struct bed *bed); // live jobs

//
// The end of the process, and the next start
//

enum bed_end {
    BED_KILLED,  // all written bytes survive
    BED_CUT,     // only synced bytes survive
    BED_CUT_LATE // some unsynced bytes survive, by the seed
};

// The log position up to which all records survive that end.
uint64_t bed_kept(const struct bed *bed, enum bed_end end);

// Asserts that, if the process ended now, the journal could be opened, and its content agrees with
// the book. The bed does not change.
void bed_expect_survives(struct bed *bed, enum bed_end end, uint64_t seed);
// The same without the book: if nothing is synced, records may be lost in a power cut after the
// disk has failed, but the journal can be opened.
void bed_expect_opens(struct bed *bed, enum bed_end end, uint64_t seed);
// All of these ends, and a few seeds.
void bed_expect_survives_all(struct bed *bed);

// The same for the process that was abandoned last, although another one may have begun to start,
// or has started, and ends so.
void bed_expect_left(struct bed *bed, enum bed_end end, uint64_t seed);

// Ends the process so and starts it again; asserts the same, and goes on with the new process. The
// disk has no more faults.
void bed_restart(struct bed *bed, enum bed_end end, uint64_t seed);
// The same as with bed_expect_opens().
void bed_restart_anyhow(struct bed *bed, enum bed_end end, uint64_t seed);
// The same on a disk where one of `one_in` calls fails during the start (fake_disk_storm). If the
// start fails, it is tried again, and finally without faults.
void bed_restart_in_storm(struct bed *bed, enum bed_end end, uint64_t seed, unsigned one_in);

#endif
