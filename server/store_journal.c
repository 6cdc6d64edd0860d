/* SPDX-License-Identifier: MIT */
#include "server/store_journal.h"

#include "core/base/log.h"
#include "journal/figures.h"
#include "journal/file/io.h"
#include "journal/file/store.h"
#include "journal/file/task_run.h"
#include "journal/journal.h"
#include "journal/worker.h"
#include "server/config/fsync.h"
#include "server/process/clock.h"
#include "server/process/facts.h"

#include <errno.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct journal_store {
    struct store store;
    const struct store_settings *settings;
    struct journal *journal;
    struct worker_thread *thread;
    struct journal_io io;
    struct event woken;
    int wake_fd; // an eventfd
    struct store_options options;
    struct broker *broker; // gets its jobs back
    struct reason why;     // why it is not opened
    nsec_t opened_for;     // how long that took
    bool opened;
    uint64_t read; // bytes, as they were logged last
};

static struct journal_store *of(const struct store *store)
{
    return container_of((struct store *)(uintptr_t)store, struct journal_store, store);
}

// Called by the journal's thread.
static void wake_loop(void *context)
{
    const struct journal_store *journal = context;

    (void)eventfd_write(journal->wake_fd, 1);
}

// That the wait has ended is all. Each write to an eventfd is an edge, so nothing need be read.
static void loop_woken(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

static bool make_journal(struct journal_store *store, const char *host, struct reason *why)
{
    const struct store_settings *ours = store->settings;
    struct journal_settings theirs = {.segment_size = ours->segment_size,
                                      .max_pending = (size_t)ours->max_pending,
                                      .fail_for = nsec_from_seconds((uint64_t)ours->fail_timeout),
                                      .secret = facts_secret(),
                                      .now = clock_mono,
                                      .host = host,
                                      .repair = store->options.repair};
    struct journal_worker worker = worker_thread_interface(store->thread);

    if (!fsync_parse(ours->fsync, &theirs.sync_every_for, why)) {
        return false;
    }
    store->journal = journal_new(&theirs, journal_files_new(&store->io), &worker);
    if (!store->journal) {
        reason_set(why, "out of memory");
    }
    return store->journal != NULL;
}

static bool make_thread(struct journal_store *store, struct reason *why)
{
    const struct task_runner runner = task_runner_on(&store->io);
    int error;

    store->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = store->wake_fd < 0
                ? errno
                : worker_thread_new(&store->thread, &runner, clock_mono, wake_loop, store);
    if (error) {
        reason_set(why, "the journal's thread: %s", strerror(error));
    }
    return !error;
}

static void journal_store_record(struct store *store, struct broker_options *options)
{
    options->recorder = &journal_recorder;
    options->store = of(store)->journal;
}

// beanstalkd calls its files binlog.1, binlog.2 ...
static void look_for_binlog(void *found, const char *name)
{
    static const char stem[] = "binlog.";
    const char *number = name + sizeof stem - 1;

    if (strncmp(name, stem, sizeof stem - 1) == 0 && *number &&
        number[strspn(number, "0123456789")] == '\0') {
        *(bool *)found = true;
    }
}

static bool refuse_binlog(const struct journal_store *store, struct reason *why)
{
    bool found = false;
    int error = store->io.list(store->io.disk, look_for_binlog, &found);

    if (error) {
        reason_set(why, "%s", strerror(error));
        return false;
    }
    if (found) {
        reason_set(why,
                   "beanstalkd has left files with jobs here (binlog.*): with journal.import = "
                   "beanstalkd:%s they are brought in, once; with --ignore-binlog they stay",
                   store->settings->dir);
    }
    return !found;
}

static bool open_directory(struct journal_store *store, struct reason *why)
{
    const struct store_options *options = &store->options;
    const char *dir = store->settings->dir;
    struct stat st;
    int error = options->must_exist && stat(dir, &st) != 0 ? errno : 0;

    if (!error) {
        error = journal_disk_open(&store->io, dir);
    }
    if (error) {
        reason_set(why, "%s", strerror(error));
        return false;
    }
    return options->ignore_binlog || *store->settings->import || refuse_binlog(store, why);
}

// Called by the journal's thread.
static void open_journal(void *context)
{
    struct journal_store *store = context;
    nsec_t began_at = clock_mono();
    struct journal_error error = {""};

    store->opened = open_directory(store, &store->why);
    if (store->opened && !journal_open(store->journal, store->broker, &error)) {
        reason_set(&store->why, "%s", error.text);
        store->opened = false;
    }
    store->opened_for = clock_mono() - began_at;
}

static bool journal_store_open_begin(struct store *store, struct event_base *base,
                                     struct broker *broker, struct reason *why)
{
    struct journal_store *js = of(store);

    if (event_assign(&js->woken, base, js->wake_fd, EV_READ | EV_ET | EV_PERSIST, loop_woken,
                     NULL) != 0 ||
        event_add(&js->woken, NULL) != 0) {
        reason_set(why, "out of memory or descriptors");
        return false;
    }
    js->broker = broker;
    worker_thread_call(js->thread, open_journal, js);
    return true;
}

static bool journal_store_is_opening(const struct store *store)
{
    return !worker_thread_idle(of(store)->thread);
}

static void journal_store_progress(const struct store *store, struct store_progress *progress)
{
    struct journal_progress now;

    journal_progress(of(store)->journal, &now);
    *progress = (struct store_progress){.read = now.read, .size = now.size, .jobs = now.jobs};
}

static bool journal_store_log_progress(struct store *store, nsec_t since_for)
{
    struct journal_store *js = of(store);
    struct journal_progress progress;
    bool moves;

    journal_progress(js->journal, &progress);
    moves = progress.read != js->read;
    js->read = progress.read;
    if (moves) {
        log_info("journal_opening", log_string("dir", js->settings->dir),
                 log_number("read", (int64_t)progress.read),
                 log_number("of", (int64_t)progress.size),
                 log_number("ms", since_for / NSEC_PER_MSEC));
    } else {
        log_warn("journal_slow", log_string("dir", js->settings->dir),
                 log_number("read", (int64_t)progress.read),
                 log_number("of", (int64_t)progress.size),
                 log_number("ms", since_for / NSEC_PER_MSEC),
                 log_string("why", "nothing was read since the last look: the disk may hang"));
    }
    return moves;
}

static void journal_store_stop_opening(struct store *store)
{
    journal_stop_opening(of(store)->journal);
}

static void announce(const struct journal_store *store)
{
    struct store_info info;
    struct broker_info jobs;

    (void)broker_store_info(store->broker, &info);
    broker_info(store->broker, &jobs);
    log_info("journal_opened", log_string("dir", store->settings->dir),
             log_string("fsync", store->settings->fsync),
             log_number("segment_size", (int64_t)info.file_max),
             log_number("ready", (int64_t)jobs.jobs[JOB_READY]),
             log_number("delayed", (int64_t)jobs.jobs[JOB_DELAYED]),
             log_number("buried", (int64_t)jobs.jobs[JOB_BURIED]),
             log_number("ms", store->opened_for / NSEC_PER_MSEC));
}

static bool journal_store_open_end(struct store *store, struct reason *why)
{
    const struct journal_store *js = of(store);

    if (!js->opened) {
        *why = js->why;
        reason_wrap(why, "journal %s: ", js->settings->dir);
        return false;
    }
    announce(js);
    return true;
}

static const char *journal_store_host(const struct store *store)
{
    return journal_host(of(store)->journal);
}

static void journal_store_turn(struct store *store)
{
    journal_turn(of(store)->journal);
}

static uint64_t journal_store_reached(const struct store *store)
{
    return journal_reached(of(store)->journal);
}

static nsec_t journal_store_next_due(const struct store *store)
{
    return journal_next_due(of(store)->journal);
}

static enum store_pressure journal_store_pressure(const struct store *store)
{
    switch (journal_pressure(of(store)->journal)) {
    case JOURNAL_EASY:
        return STORE_EASY;
    case JOURNAL_BEHIND:
        return STORE_BEHIND;
    case JOURNAL_STUCK:
        return STORE_STUCK;
    }
    UNREACHABLE();
}

static bool journal_store_gave_up(struct store *store)
{
    return journal_gave_up(of(store)->journal);
}

static bool journal_store_close(struct store *store)
{
    struct journal_store *js = of(store);
    bool good = journal_close(js->journal);

    worker_thread_free(js->thread);
    journal_disk_close(&js->io);
    if (event_initialized(&js->woken)) {
        (void)event_del(&js->woken);
    }
    if (js->wake_fd >= 0) {
        (void)close(js->wake_fd);
    }
    free(js);
    return good;
}

static struct sight_distribution shown(const struct figure *figure, const int64_t *ends)
{
    return (struct sight_distribution){.ends = ends,
                                       .counts = figure->counts,
                                       .buckets = FIGURES_BUCKETS,
                                       .count = figure->count,
                                       .sum = figure->sum};
}

static void journal_store_show(const struct store *store, struct sight_journal *journal)
{
    struct journal_store *js = of(store);
    const struct journal_figures *figures = journal_figures(js->journal);
    struct store_info info;

    (void)broker_store_info(js->broker, &info);
    journal->bytes = info.bytes;
    journal->live = info.live;
    journal->segment_bytes = info.file_max;
    journal->segments = journal_segments(js->journal);
    journal->oldest = info.oldest;
    journal->current = info.current;
    journal->records = info.written;
    journal->migrated = info.migrated;
    journal->batches = figures->batches;
    journal->syncs = shown(&figures->syncs, figures_sync_ends);
    journal->batch_records = shown(&figures->batch_records, figures_record_ends);
    journal->errors = info.errors;
    journal->failing = info.failing;
    journal->disk_free = js->io.space(js->io.disk);
}

static const struct store_ops ops = {
    .record = journal_store_record,
    .open_begin = journal_store_open_begin,
    .is_opening = journal_store_is_opening,
    .progress = journal_store_progress,
    .log_progress = journal_store_log_progress,
    .stop_opening = journal_store_stop_opening,
    .open_end = journal_store_open_end,
    .host = journal_store_host,
    .turn = journal_store_turn,
    .reached = journal_store_reached,
    .next_due = journal_store_next_due,
    .pressure = journal_store_pressure,
    .gave_up = journal_store_gave_up,
    .show = journal_store_show,
    .close = journal_store_close,
};

struct store *store_journal_make(const struct store_settings *settings,
                                 const struct store_options *options, const char *host,
                                 struct reason *why)
{
    struct journal_store *store = calloc(1, sizeof *store);

    if (!store) {
        reason_set(why, "out of memory");
        return NULL;
    }
    store->store.ops = &ops;
    store->settings = settings;
    store->options = *options;
    store->wake_fd = -1;
    if (make_thread(store, why) && make_journal(store, host, why)) {
        return &store->store;
    }
    (void)journal_store_close(&store->store);
    return NULL;
}
