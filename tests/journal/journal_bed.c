/* SPDX-License-Identifier: MIT */
#include "tests/journal/journal_bed.h"

#include "tests/support/broker_check.h"
#include "tests/journal/journal_check.h"
#include "tests/journal/file/files_check.h"
#include "journal/file/files_private.h"
#include "journal/file/files.h"
#include "journal/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Where the clocks stand at first.
#define MONO_AT SEC(1000)
#define WALL_AT SEC(1700000000)

// More turns than that count as endless.
enum { TURNS_MOST = 20000 };
// The ledger is checked after each turn with up to FEW_JOBS jobs, and after one turn in
// LEDGER_ONE_IN with more.
enum { FEW_JOBS = 100, LEDGER_ONE_IN = 64 };
enum { BODY_MAX = 3000 };
#define MAX_PENDING ((size_t)64 * 1024 * 1024)

// journal_settings.now has no context.
static nsec_t clock_now;

static nsec_t read_clock(void)
{
    return clock_now;
}

//
// The store, and the book beside it
//

static bool store_has_space(void *store, const struct record *record)
{
    const struct bed *bed = store;
    bool has = journal_recorder.has_space(bed->journal, record);

    if (!has && bed->book) {
        book_note_refusal(bed->book, record);
    }
    return has;
}

static uint64_t store_append(void *store, const struct record *record)
{
    struct bed *bed = store;
    uint64_t position = journal_recorder.append(bed->journal, record);

    assert_true(position == 0 || position >= bed->last);
    if (position > 0) {
        bed->last = position;
    }
    if (bed->book) {
        book_note(bed->book, bed->broker, record, position);
    }
    return position;
}

static uint64_t store_position(const void *store, const struct job *job)
{
    const struct bed *bed = store;

    return journal_recorder.position(bed->journal, job);
}

static void store_info(const void *store, struct store_info *info)
{
    const struct bed *bed = store;

    journal_recorder.info(bed->journal, info);
}

static const struct recorder bed_recorder = {.has_space = store_has_space,
                                             .append = store_append,
                                             .position = store_position,
                                             .info = store_info};

//
// Life
//

static const struct session_ops worker_ops = {0};

bool bed_begin_work(struct bed *bed)
{
    const struct subscription_terms terms = {0};

    if (broker_session_open(bed->broker, &worker_ops, NULL, CHOICE_OLDEST, &bed->worker) !=
        STATUS_OK) {
        bed->worker = NULL;
        return false;
    }
    for (int i = 0; i < BED_QUEUES; i++) {
        if (broker_subscribe(bed->worker, bed_queue(i), &terms) != STATUS_OK) {
            return false;
        }
    }
    return true;
}

// Enough for a job with the longest body, beside what every segment keeps free.
static uint64_t segment_size_of(const struct bed_options *options)
{
    size_t body_max = options->body_max ? options->body_max : BODY_MAX;
    uint64_t least = codec_job_size(CODEC_NAMES_MAX + body_max) + 5 * SEGMENT_UNIT;

    return options->segment_size ? options->segment_size : least;
}

static bool start(struct bed *bed)
{
    const struct journal_settings settings = {
        .sync_every_for = bed->options.sync_every_for,
        .segment_size = segment_size_of(&bed->options),
        .step_size = bed->options.step_size,
        .max_pending = bed->options.max_pending ? bed->options.max_pending : MAX_PENDING,
        .fail_for = bed->options.fail_for ? bed->options.fail_for : SEC(5),
        .secret = 7,
        .now = read_clock,
        .repair = bed->options.repair,
        .host = bed->options.host,
    };
    const struct journal_worker worker = fake_worker_interface(&bed->disk_worker);
    const struct broker_options options = {.recorder = &bed_recorder, .store = bed, .secret = 11};

    bed->why.text[0] = '\0';
    bed->broker = broker_new(&options, bed->now);
    bed->journal =
        bed->broker ? journal_new(&settings, journal_files_new(&bed->io), &worker) : NULL;
    return bed->journal && journal_open(bed->journal, bed->broker, &bed->why) &&
           bed_begin_work(bed);
}

bool bed_open(struct bed *bed)
{
    bed->reached = 0;
    bed->last = 0;
    bed->timeouts = 0;
    clock_now = bed->now.mono;
    if (start(bed)) {
        broker_check(bed->broker);
        return true;
    }
    broker_session_close(bed->worker);
    bed->worker = NULL;
    (void)journal_close(bed->journal);
    bed->journal = NULL;
    broker_free(bed->broker);
    bed->broker = NULL;
    return false;
}

bool bed_close(struct bed *bed)
{
    bool good;

    broker_session_close(bed->worker);
    bed->worker = NULL;
    good = journal_close(bed->journal);
    bed->journal = NULL;
    broker_free(bed->broker);
    bed->broker = NULL;
    return good;
}

// Ends the process. Its disk fails in everything: it cannot tidy up.
static void bed_break_off(struct bed *bed)
{
    const struct fake_fault fault = {
        .op = FAKE_ANY, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};

    if (bed->journal) {
        bed->left = bed_kept(bed, BED_KILLED);
        bed->left_safe = bed_kept(bed, BED_CUT);
        fake_disk_heal(bed->disk);
        fake_disk_fault(bed->disk, &fault);
        (void)bed_close(bed);
    }
}

void bed_abandon(struct bed *bed)
{
    struct fake_disk *left = fake_disk_copy(bed->disk);

    bed_break_off(bed);
    fake_disk_free(bed->disk);
    bed->disk = left;
    bed->io = fake_disk_io(left);
}

struct bed *bed_new_closed(const struct bed_options *options)
{
    struct bed *bed = calloc(1, sizeof *bed);

    assert_non_null(bed);
    bed->options = *options;
    bed->disk = fake_disk_new();
    bed->io = fake_disk_io(bed->disk);
    bed->disk_worker.io = &bed->io;
    bed->now = (struct instant){.mono = MONO_AT, .wall = WALL_AT};
    if (!options->no_book) {
        bed->book = book_new();
    }
    return bed;
}

struct bed *bed_new(const struct bed_options *options)
{
    struct bed *bed = bed_new_closed(options);

    if (!bed_open(bed)) {
        fail_msg("not opened: %s", bed->why.text);
    }
    return bed;
}

void bed_discard(struct bed *bed)
{
    bed_break_off(bed);
    fake_disk_free(bed->disk);
    bed->disk = NULL;
}

void bed_free(struct bed *bed)
{
    bed_discard(bed);
    book_free(bed->book);
    free(bed);
}

//
// Time
//

// The size of a file, or of the largest job that has a larger one to itself.
static uint64_t file_size(const struct bed *bed)
{
    const struct segment_list *segments = &bed->journal->segments.list;
    const struct segment *going[] = {bed->journal->segments.removing,
                                     files_of(bed->journal)->freeing};
    uint64_t most = bed_info(bed).file_max;

    for (size_t i = 0; i < sizeof going / sizeof *going; i++) {
        if (going[i] && going[i]->end > most) {
            most = going[i]->end;
        }
    }
    for (size_t i = 0; i < segments->count; i++) {
        uint64_t end = segments->items[i]->end;

        most = end > most ? end : most;
    }
    return most;
}

// At most three times the live bytes, and three files.
static void expect_bounded(struct bed *bed)
{
    struct store_info info = bed_info(bed);
    uint64_t used = fake_disk_used(bed->disk);
    uint64_t bound = 3 * info.live + 3 * file_size(bed);

    if (used > bound) {
        fail_msg("%llu bytes on the disk (%llu by the books), %llu live, files of %llu",
                 (unsigned long long)used, (unsigned long long)info.bytes,
                 (unsigned long long)info.live, (unsigned long long)info.file_max);
    }
    bed->most_used = used > bed->most_used ? used : bed->most_used;
}

void bed_note_attempts(struct bed *bed)
{
    struct job_walk walk = {.over = !bed->book};
    const struct job *job;
    enum status status;

    do {
        status = broker_job_next(bed->broker, &walk, &job);
        if (status == STATUS_OK) {
            struct job_info info;

            broker_job_info(bed->broker, job, &info);
            book_note_attempts(bed->book, info.id, info.attempts);
        }
    } while (status != STATUS_EMPTY);
}

static void note_timeouts(struct bed *bed)
{
    struct broker_info info;

    broker_info(bed->broker, &info);
    if (info.timeouts != bed->timeouts) {
        bed_note_attempts(bed);
    }
    bed->timeouts = info.timeouts;
}

// With a large number of jobs, they are not counted each time.
static void check(struct bed *bed)
{
    journal_check(bed->journal);
    journal_check_files(bed->journal);
    if (bed->turns++ % LEDGER_ONE_IN == 0 || bed_count(bed) <= FEW_JOBS) {
        journal_check_ledger(bed->journal);
    }
}

void bed_turn(struct bed *bed)
{
    uint64_t reached;

    clock_now = bed->now.mono;
    broker_tick(bed->broker, bed->now);
    while (broker_settle(bed->broker)) {
    }
    note_timeouts(bed);
    journal_turn(bed->journal);
    reached = journal_reached(bed->journal);
    check(bed);
    assert_true(reached >= bed->reached);
    bed->reached = reached;
    bed->gave_up += journal_gave_up(bed->journal);
    if (bed->options.bounded) {
        expect_bounded(bed);
    }
}

static bool is_idle(const struct bed *bed)
{
    return broker_next_due(bed->broker) > bed->now.mono &&
           journal_next_due(bed->journal) > bed->now.mono;
}

unsigned bed_turns(struct bed *bed)
{
    unsigned count = 0;
    unsigned long tasks;

    do {
        tasks = bed->disk_worker.count;
        bed_turn(bed);
        if (++count > TURNS_MOST) {
            fail_msg("%s", "turns without end");
        }
    } while (bed->disk_worker.count != tasks || !is_idle(bed));
    return count;
}

void bed_pass(struct bed *bed, nsec_t by_for)
{
    nsec_t end = bed->now.mono + by_for;

    do {
        nsec_t due_at;
        nsec_t step_for;

        (void)bed_turns(bed);
        due_at = journal_next_due(bed->journal);
        if (broker_next_due(bed->broker) < due_at) {
            due_at = broker_next_due(bed->broker);
        }
        step_for = (due_at < end ? due_at : end) - bed->now.mono;
        bed->now.mono += step_for;
        bed->now.wall += step_for;
    } while (bed->now.mono < end);
    (void)bed_turns(bed);
}
