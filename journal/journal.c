/* SPDX-License-Identifier: MIT */
#include "journal/journal.h"

#include "core/base/log.h"
#include "core/restore.h"
#include "journal/journal_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// What a journal that is opened on a full disk may have beside its reserved bytes, and what it
// must.
#define SCANTY ((uint64_t)64 * 1024)
#define SCANTIEST ((uint64_t)4 * 1024)
// How often what remains is tried to be written when the journal is closed.
enum { CLOSE_TRIES = 8 };
// A wait that is shorter than this is spent looking, since timers are not that fine.
#define SPIN_MOST NSEC_PER_MSEC

void journal_complain(struct journal_error *why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
}

struct journal *journal_new(const struct journal_settings *settings, const struct journal_io *io,
                            const struct journal_worker *worker)
{
    struct journal *journal = calloc(1, sizeof *journal);

    if (!journal) {
        return NULL;
    }
    journal->settings = *settings;
    journal->settings.segment_size = space_segment_size(settings->segment_size);
    journal->settings.step_size = settings->step_size ? settings->step_size : STEP_SIZE;
    journal->io = io;
    journal->worker = *worker;
    journal->ids_ahead = IDS_BLOCK;
    journal->failing_at = NSEC_NEVER;
    journal->dirty_at = NSEC_NEVER;
    journal->quiet_at = NSEC_NEVER;
    batch_init(&journal->gathering, 1);
    batch_init(&journal->writing, 0);
    batch_init(&journal->unsynced, 0);
    return journal;
}

//
// Opening
//

static bool claim(struct journal *journal, struct journal_error *why)
{
    int error = journal->io->lock(journal->io->disk);

    if (error == EWOULDBLOCK) {
        journal_complain(why, "another process uses this journal");
        return false;
    }
    if (error) {
        journal_complain(why, "cannot be claimed: %s", strerror(error));
        return false;
    }
    journal->locked = true;
    return true;
}

// Does a task, and waits for it.
static int do_task(struct journal *journal, struct task *task)
{
    journal->worker.give(journal->worker.self, task);
    journal->worker.wait(journal->worker.self);
    ENSURE(journal->worker.done(journal->worker.self));
    return task->error;
}

// Segments of the last time may have space set aside that is of no use any more: the youngest has,
// and others where a power cut has undone that they gave it back.
static void give_back(const struct journal *journal)
{
    const struct journal_io *io = journal->io;

    for (size_t i = 0; i < journal->segments.count && !progress_stops(&journal->progress); i++) {
        struct segment *segment = journal->segments.list[i];
        char name[SEGMENT_NAME_MAX];
        int file;

        segment_name(segment->number, name);
        if (segment->size <= segment->end || segment->damaged ||
            io->open(io->disk, name, JOURNAL_OPEN_READ, &file) != 0) {
            continue;
        }
        if (io->truncate(io->disk, file, segment->end) == 0) {
            segment->size = segment->end;
        }
        io->close(io->disk, file);
    }
}

// A first file to write to. On a full disk, a small one will do: jobs can be worked then.
static bool begin_file(struct journal *journal, struct journal_error *why)
{
    const uint64_t sizes[] = {journal->settings.segment_size + journal->reserved,
                              CODEC_SEGMENT_HEAD + journal->reserved + SCANTY,
                              CODEC_SEGMENT_HEAD + journal->reserved + SCANTIEST};
    struct task task = {.kind = TASK_PREPARE};

    task.segment = segment_new(0, turn_draw_salt(journal));
    if (!task.segment || !segments_make_room(&journal->segments)) {
        segment_free(task.segment);
        journal_complain(why, "out of memory");
        return false;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        task.size = sizes[i];
        if (do_task(journal, &task) == 0) {
            space_follow(journal, task.segment);
            return true;
        }
        if (!turn_disk_is_full(task.error)) {
            break;
        }
    }
    segment_free(task.segment);
    journal_complain(why, "a file of %llu bytes cannot be made: %s", (unsigned long long)task.size,
                     strerror(task.error));
    return false;
}

bool journal_do_next(struct journal *journal)
{
    turn_hand_over(journal);
    if (!journal->busy) {
        return false;
    }
    journal->worker.wait(journal->worker.self);
    turn_take_in(journal);
    return true;
}

static bool is_idle(const struct journal *journal)
{
    return !journal->busy && batch_empty(&journal->writing) && batch_empty(&journal->gathering);
}

// An opening that is to end. What is closed is written all the same.
static bool is_stopped(const struct journal *journal)
{
    return progress_stops(&journal->progress) && !journal->closing;
}

// Lets turns pass, waiting for the disk, until nothing is left to be written; false where that does
// not come about.
static bool settle(struct journal *journal)
{
    unsigned failures = 0;

    while (!is_idle(journal) && failures < CLOSE_TRIES && !is_stopped(journal)) {
        uint64_t errors = journal->errors;

        journal->retry_at = 0;
        journal->upkeep_retry_at = 0;
        failures += !journal_do_next(journal) || journal->errors > errors || journal->full;
    }
    return is_idle(journal);
}

// The first ids, and with them the first segment of this time, are kept before anybody is served.
static bool begin(struct journal *journal, struct journal_error *why)
{
    if (!space_has_memory(journal)) {
        journal_complain(why, "out of memory");
        return false;
    }
    append_ids(journal);
    journal->opened = true;
    if (!settle(journal)) {
        journal_complain(why, "cannot be written");
        return false;
    }
    // A disk that has no space for a spare is told of before anybody comes.
    while (!journal->spare && !journal->full && !is_stopped(journal) && journal_do_next(journal)) {
    }
    return true;
}

// For a job that is larger than a segment; true once it is.
static bool makes_spare_larger(struct journal *journal)
{
    bool wanted = journal->compaction.wants > 0;

    while (wanted && journal->spare && space_spare_lacks_copy(journal) &&
           journal_do_next(journal)) {
    }
    return wanted && journal->spare && !space_spare_lacks_copy(journal);
}

// One step of emptying old segments. False where it gets nowhere.
static bool renew_step(struct journal *journal)
{
    uint64_t migrated = journal->total_migrated;
    size_t count = journal->segments.count;
    // For what will come, unless the disk has failed at it.
    bool waits = journal->removing || journal->segments.list[0]->file >= 0 ||
                 (!journal->spare && !journal->full);
    bool waited = waits && journal->upkeep_error == 0;

    compact_step(journal);
    if (!settle(journal)) {
        return false;
    }
    (void)journal_do_next(journal);
    return !journal->compaction.blocked || waited || journal->total_migrated > migrated ||
           journal->segments.count < count || makes_spare_larger(journal);
}

// What was damaged is not needed once all its jobs are written anew.
static bool renew(struct journal *journal, struct journal_error *why)
{
    journal->unsound_below = journal->current->number;
    while (journal->segments.first < journal->unsound_below || journal->removing) {
        // It gets on, though nothing is read.
        progress_add(&journal->progress, 1);
        if (is_stopped(journal) || !renew_step(journal)) {
            journal_complain(why, "what was good cannot be written anew");
            return false;
        }
    }
    return true;
}

bool journal_open(struct journal *journal, struct broker *broker, struct journal_error *why)
{
    uint64_t ids_end = 0;
    bool damaged = false;

    journal->broker = broker;
    if (!claim(journal, why) || !journal_replay(journal, &ids_end, &damaged, why)) {
        return false;
    }
    proof_name_host(journal, journal->settings.host);
    // A new block of ids: nobody knows how many of the last one were given out.
    ids_end = journal_round_up(ids_end, IDS_BLOCK);
    if (broker_restore_finish(broker, ids_end ? ids_end : 1) != STATUS_OK) {
        journal_complain(why, "out of memory");
        return false;
    }
    give_back(journal);
    return begin_file(journal, why) && begin(journal, why) && (!damaged || renew(journal, why));
}

void journal_progress(const struct journal *journal, struct journal_progress *progress)
{
    const struct progress *now = &journal->progress;

    progress->read = atomic_load_explicit(&now->read, memory_order_relaxed);
    progress->size = atomic_load_explicit(&now->size, memory_order_relaxed);
}

void journal_stop_opening(struct journal *journal)
{
    atomic_store_explicit(&journal->progress.stop, true, memory_order_relaxed);
}

//
// Running
//

const char *journal_host(const struct journal *journal)
{
    return journal->about.host;
}

uint64_t journal_reached(const struct journal *journal)
{
    return journal->reached;
}

static nsec_t sooner(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

nsec_t journal_next_due(const struct journal *journal)
{
    nsec_t now = journal_present(journal);
    nsec_t due_at = fail_due_at(journal);

    if (compact_has_work(journal)) {
        return now;
    }
    if (journal->busy) {
        return due_at;
    }
    if (turn_gathers(journal)) {
        nsec_t until_at = turn_gathers_until(journal);

        return until_at - now < SPIN_MOST ? now : sooner(due_at, until_at);
    }
    if (journal->retry_at > now) {
        due_at = sooner(due_at, journal->retry_at);
    } else if (journal->current->file < 0 && journal->upkeep_retry_at > now) {
        due_at = sooner(due_at, journal->upkeep_retry_at);
    } else if (!batch_empty(&journal->writing) || !batch_empty(&journal->gathering)) {
        return now;
    }
    if (journal->upkeep_retry_at > now) {
        due_at = sooner(due_at, journal->upkeep_retry_at);
    }
    if (journal->compaction.wants && journal->compaction.retry_at > now) {
        due_at = sooner(due_at, journal->compaction.retry_at);
    }
    if (journal->dirty_at != NSEC_NEVER) {
        nsec_t sync_at = nsec_add(journal->dirty_at, journal->settings.sync_every_for);

        due_at = sooner(due_at, sync_at > journal->retry_at ? sync_at : journal->retry_at);
    }
    return sooner(due_at, proof_due_at(journal));
}

enum journal_pressure journal_pressure(const struct journal *journal)
{
    size_t pending = journal->gathering.bytes + journal->writing.bytes;

    if (space_memory_is_low(journal)) {
        return JOURNAL_STUCK;
    }
    if (journal->given_up) {
        return JOURNAL_EASY;
    }
    if (pending > journal->settings.max_pending || space_overflows(journal) ||
        compact_holds_back(journal)) {
        return JOURNAL_BEHIND;
    }
    return JOURNAL_EASY;
}

//
// Closing
//

// What is set aside is given back, so that a journal at rest is as large as it need be. All is
// synced: what compaction has emptied can go.
static void tidy(struct journal *journal)
{
    const struct journal_io *io = journal->io;

    for (size_t i = 0; i < journal->segments.count; i++) {
        const struct segment *segment = journal->segments.list[i];

        if (segment->published && segment->file >= 0 && !segment->failed) {
            (void)io->truncate(io->disk, segment->file, segment->end);
            (void)io->sync(io->disk, segment->file);
        }
    }
    if (journal->spare || journal->making) {
        (void)io->remove(io->disk, SEGMENT_SPARE_NAME);
    }
    // Nobody waits for that.
    if (journal->removing) {
        struct task task = {.kind = TASK_REMOVE, .segment = journal->removing, .size = UINT64_MAX};

        (void)do_task(journal, &task);
    }
}

static bool finish(struct journal *journal)
{
    bool good;

    journal->closing = true;
    good = settle(journal);
    if (good && journal->synced < journal->reached) {
        struct task task = {.kind = TASK_SYNC, .segment = turn_written_last(journal)};

        good = task.segment && do_task(journal, &task) == 0;
    }
    if (journal->busy) {
        journal->worker.wait(journal->worker.self);
    }
    if (good) {
        tidy(journal);
        // Nothing is lost where it is not said.
        (void)proof_close(journal);
    }
    return good;
}

static void close_files(struct journal *journal)
{
    struct segment *const others[] = {journal->spare, journal->making, journal->removing,
                                      journal->shedding};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i]) {
            journal_close_file(journal, others[i]);
        }
    }
    for (size_t i = 0; i < journal->segments.count; i++) {
        journal_close_file(journal, journal->segments.list[i]);
    }
}

bool journal_close(struct journal *journal)
{
    bool good = true;

    if (!journal) {
        return true;
    }
    if (journal->opened) {
        good = finish(journal);
    }
    close_files(journal);
    batch_drop(&journal->gathering, &journal->pool);
    batch_drop(&journal->writing, &journal->pool);
    batch_drop(&journal->unsynced, &journal->pool);
    chunk_pool_clear(&journal->pool);
    segments_clear(&journal->segments);
    segment_free(journal->spare);
    segment_free(journal->making);
    segment_free(journal->replacement);
    segment_free(journal->removing);
    segment_free(journal->shedding);
    if (journal->locked) {
        journal->io->unlock(journal->io->disk);
    }
    free(journal);
    return good;
}
