/* SPDX-License-Identifier: MIT */
#include "server/store/journal_store.h"

#include "core/base/log.h"
#include "journal/journal.h"
#include "journal/worker.h"
#include "server/config/journal_settings.h"
#include "server/process/clock.h"
#include "server/process/facts.h"

#include <errno.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct journal_store *journal_store_of(const struct store *store)
{
    return container_of((struct store *)(uintptr_t)store, struct journal_store, store);
}

// Called by the worker thread.
static void journal_store_wake_loop(void *context)
{
    const struct journal_store *journal = context;

    (void)eventfd_write(journal->wake_fd, 1);
}

// The event only ends the wait. Each write to an eventfd is an edge, so nothing need be read.
static void journal_store_loop_woken(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

static bool journal_store_make_journal(struct journal_store *store, struct storage *storage,
                                       const char *host, struct error_text *why)
{
    const struct store_settings *ours = store->settings;
    struct journal_settings theirs = {.segment_size = ours->segment_size,
                                      .max_pending = (size_t)ours->max_pending,
                                      .fail_for = nsec_from_seconds((uint64_t)ours->fail_timeout),
                                      .secret = facts_secret(),
                                      .now = clock_boot,
                                      .host = host,
                                      .repair = store->options.repair};
    struct journal_worker worker = worker_thread_interface(store->thread);

    if (!store->place->commits && !fsync_parse(ours->fsync, &theirs.sync_every_for, why)) {
        journal_discard(storage);
        return false;
    }
    store->journal = journal_new(&theirs, storage, &worker);
    if (!store->journal) {
        error_set(why, "out of memory");
    }
    return store->journal != NULL;
}

static bool journal_store_make_thread(struct journal_store *store, const struct task_runner *runner,
                                      struct error_text *why)
{
    int error;

    store->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = store->wake_fd < 0 ? errno
                               : worker_thread_new(&store->thread, runner, clock_awake,
                                                   journal_store_wake_loop, store);
    if (error) {
        error_set(why, "the journal's thread: %s", strerror(error));
    }
    return !error;
}

static void journal_store_record(struct store *store, struct broker_options *options)
{
    options->recorder = &journal_recorder;
    options->store = journal_store_of(store)->journal;
}

// Called by the worker thread.
static void journal_store_open(void *context)
{
    struct journal_store *store = context;
    nsec_t began_at = clock_awake();

    store->opened = (!store->place->open || store->place->open(store, &store->why)) &&
                    journal_open(store->journal, store->broker, &store->why);
    store->opened_for = clock_awake() - began_at;
}

static bool journal_store_open_begin(struct store *store, struct event_base *base,
                                     struct broker *broker, struct error_text *why)
{
    struct journal_store *js = journal_store_of(store);

    if (js->place->prepare && !js->place->prepare(js, why)) {
        return false;
    }
    if (event_assign(&js->woken, base, js->wake_fd, EV_READ | EV_ET | EV_PERSIST,
                     journal_store_loop_woken, NULL) != 0 ||
        event_add(&js->woken, NULL) != 0) {
        return error_set(why, "out of memory or descriptors");
    }
    js->broker = broker;
    worker_thread_call(js->thread, journal_store_open, js);
    return true;
}

static bool journal_store_is_opening(const struct store *store)
{
    return !worker_thread_idle(journal_store_of(store)->thread);
}

static void journal_store_progress(const struct store *store, struct restore_progress *progress)
{
    journal_progress(journal_store_of(store)->journal, progress);
}

static bool journal_store_log_progress(struct store *store, nsec_t since_for)
{
    struct journal_store *js = journal_store_of(store);
    struct restore_progress progress;
    bool moves;

    journal_progress(js->journal, &progress);
    moves = progress.read != js->read;
    js->read = progress.read;
    if (moves) {
        log_info("journal_opening", log_string(js->place->key, js->place->name(js)),
                 log_number("read", (int64_t)progress.read),
                 log_number("of", (int64_t)progress.size),
                 log_number("ms", since_for / NSEC_PER_MSEC));
    } else {
        log_warn("journal_slow", log_string(js->place->key, js->place->name(js)),
                 log_number("read", (int64_t)progress.read),
                 log_number("of", (int64_t)progress.size),
                 log_number("ms", since_for / NSEC_PER_MSEC),
                 log_string("why", "nothing was read since the last look"),
                 log_string("medium", js->place->medium));
    }
    return moves;
}

static void journal_store_stop_opening(struct store *store)
{
    struct journal_store *js = journal_store_of(store);

    journal_stop_opening(js->journal);
    if (js->place->stop_opening) {
        js->place->stop_opening(js);
    }
}

static void journal_store_log_opened(const struct journal_store *store)
{
    struct store_info info;
    struct broker_info jobs;

    (void)broker_store_info(store->broker, &info);
    broker_info(store->broker, &jobs);
    log_info("journal_opened", log_string(store->place->key, store->place->name(store)),
             log_string("fsync", store->place->commits ? "commit" : store->settings->fsync),
             log_number("segment_size", (int64_t)info.file_max),
             log_number("ready", (int64_t)jobs.jobs[JOB_READY]),
             log_number("delayed", (int64_t)jobs.jobs[JOB_DELAYED]),
             log_number("buried", (int64_t)jobs.jobs[JOB_BURIED]),
             log_number("ms", store->opened_for / NSEC_PER_MSEC));
}

static bool journal_store_open_end(struct store *store, struct error_text *why)
{
    struct journal_store *js = journal_store_of(store);

    if (!js->opened) {
        *why = js->why;
        return error_prefix(why, "journal %s: ", js->place->name(js));
    }
    journal_store_log_opened(js);
    js->ready = true;
    return true;
}

static const char *journal_store_host(const struct store *store)
{
    return journal_host(journal_store_of(store)->journal);
}

static void journal_store_turn(struct store *store)
{
    journal_turn(journal_store_of(store)->journal);
}

static uint64_t journal_store_reached(const struct store *store)
{
    return journal_reached(journal_store_of(store)->journal);
}

static nsec_t journal_store_next_due(const struct store *store)
{
    return journal_next_due(journal_store_of(store)->journal);
}

static enum store_pressure journal_store_pressure(const struct store *store)
{
    switch (journal_pressure(journal_store_of(store)->journal)) {
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
    return journal_gave_up(journal_store_of(store)->journal);
}

static void journal_store_resumed(struct store *store)
{
    journal_resumed(journal_store_of(store)->journal);
}

static bool journal_store_close(struct store *store)
{
    struct journal_store *js = journal_store_of(store);
    bool good;

    if (js->place->closing) {
        js->place->closing(js);
    }
    good = journal_close(js->journal);

    worker_thread_free(js->thread);
    if (event_initialized(&js->woken)) {
        (void)event_del(&js->woken);
    }
    if (js->wake_fd >= 0) {
        (void)close(js->wake_fd);
    }
    js->place->free(js);
    return good;
}

static struct introspect_distribution
journal_store_distribution(const struct journal_histogram *histogram, const int64_t *limits)
{
    return (struct introspect_distribution){.ends = limits,
                                            .counts = histogram->counts,
                                            .buckets = JOURNAL_BUCKETS,
                                            .count = histogram->count,
                                            .sum = histogram->sum};
}

static void journal_store_show(const struct store *store, struct introspect_journal *journal)
{
    struct journal_store *js = journal_store_of(store);
    const struct journal_stats *stats = journal_stats(js->journal);
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
    journal->batches = stats->batches;
    journal->syncs = journal_store_distribution(&stats->syncs, journal_sync_buckets);
    journal->batch_records =
        journal_store_distribution(&stats->batch_records, journal_record_buckets);
    journal->errors = info.errors;
    journal->failing = info.failing;
    js->place->show(js, journal);
}

static const struct store_ops journal_store_ops = {
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
    .resumed = journal_store_resumed,
    .show = journal_store_show,
    .close = journal_store_close,
};

bool journal_store_make(struct journal_store *store, struct storage *storage,
                        const struct task_runner *runner, const char *host, struct error_text *why)
{
    bool good = storage || error_set(why, "out of memory");

    store->store.ops = &journal_store_ops;
    store->wake_fd = -1;
    if (good && !journal_store_make_thread(store, runner, why)) {
        journal_discard(storage);
        good = false;
    }
    good = good && journal_store_make_journal(store, storage, host, why);
    if (!good) {
        (void)journal_store_close(&store->store);
    }
    return good;
}
