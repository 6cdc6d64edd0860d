/* SPDX-License-Identifier: MIT */
#include "server/journal_store.h"

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

static bool make_journal(struct journal_store *store, struct storage *storage, const char *host,
                         struct error_text *why)
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

static bool make_thread(struct journal_store *store, const struct task_runner *runner,
                        struct error_text *why)
{
    int error;

    store->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = store->wake_fd < 0
                ? errno
                : worker_thread_new(&store->thread, runner, clock_awake, wake_loop, store);
    if (error) {
        error_set(why, "the journal's thread: %s", strerror(error));
    }
    return !error;
}

void journal_store_record(struct store *store, struct broker_options *options)
{
    options->recorder = &journal_recorder;
    options->store = journal_store_of(store)->journal;
}

// Called by the journal's thread.
static void open_journal(void *context)
{
    struct journal_store *store = context;
    nsec_t began_at = clock_awake();

    store->opened = store->place->open(store, &store->why) &&
                    journal_open(store->journal, store->broker, &store->why);
    store->opened_for = clock_awake() - began_at;
}

bool journal_store_open_begin(struct store *store, struct event_base *base, struct broker *broker,
                              struct error_text *why)
{
    struct journal_store *js = journal_store_of(store);

    if (event_assign(&js->woken, base, js->wake_fd, EV_READ | EV_ET | EV_PERSIST, loop_woken,
                     NULL) != 0 ||
        event_add(&js->woken, NULL) != 0) {
        return error_set(why, "out of memory or descriptors");
    }
    js->broker = broker;
    worker_thread_call(js->thread, open_journal, js);
    return true;
}

bool journal_store_is_opening(const struct store *store)
{
    return !worker_thread_idle(journal_store_of(store)->thread);
}

void journal_store_progress(const struct store *store, struct store_progress *progress)
{
    struct journal_progress now;

    journal_progress(journal_store_of(store)->journal, &now);
    *progress = (struct store_progress){.read = now.read, .size = now.size, .jobs = now.jobs};
}

bool journal_store_log_progress(struct store *store, nsec_t since_for)
{
    struct journal_store *js = journal_store_of(store);
    struct journal_progress progress;
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

void journal_store_stop_opening(struct store *store)
{
    journal_stop_opening(journal_store_of(store)->journal);
}

static void announce(const struct journal_store *store)
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

bool journal_store_open_end(struct store *store, struct error_text *why)
{
    struct journal_store *js = journal_store_of(store);

    if (!js->opened) {
        *why = js->why;
        return error_prefix(why, "journal %s: ", js->place->name(js));
    }
    announce(js);
    js->ready = true;
    return true;
}

const char *journal_store_host(const struct store *store)
{
    return journal_host(journal_store_of(store)->journal);
}

void journal_store_turn(struct store *store)
{
    journal_turn(journal_store_of(store)->journal);
}

uint64_t journal_store_reached(const struct store *store)
{
    return journal_reached(journal_store_of(store)->journal);
}

nsec_t journal_store_next_due(const struct store *store)
{
    return journal_next_due(journal_store_of(store)->journal);
}

enum store_pressure journal_store_pressure(const struct store *store)
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

bool journal_store_gave_up(struct store *store)
{
    return journal_gave_up(journal_store_of(store)->journal);
}

void journal_store_resumed(struct store *store)
{
    journal_resumed(journal_store_of(store)->journal);
}

bool journal_store_close(struct store *store)
{
    struct journal_store *js = journal_store_of(store);
    bool good = journal_close(js->journal);

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

static struct sight_distribution shown(const struct journal_histogram *figure, const int64_t *ends)
{
    return (struct sight_distribution){.ends = ends,
                                       .counts = figure->counts,
                                       .buckets = JOURNAL_BUCKETS,
                                       .count = figure->count,
                                       .sum = figure->sum};
}

void journal_store_show(const struct store *store, struct sight_journal *journal)
{
    struct journal_store *js = journal_store_of(store);
    const struct journal_stats *figures = journal_stats(js->journal);
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
    journal->syncs = shown(&figures->syncs, journal_sync_buckets);
    journal->batch_records = shown(&figures->batch_records, journal_record_buckets);
    journal->errors = info.errors;
    journal->failing = info.failing;
    js->place->show(js, journal);
}

bool journal_store_make(struct journal_store *store, struct storage *storage,
                        const struct task_runner *runner, const char *host, struct error_text *why)
{
    store->wake_fd = -1;
    if (!storage) {
        return error_set(why, "out of memory");
    }
    if (!make_thread(store, runner, why)) {
        journal_discard(storage);
        return false;
    }
    return make_journal(store, storage, host, why);
}
