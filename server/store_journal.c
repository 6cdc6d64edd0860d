/* SPDX-License-Identifier: MIT */
#include "server/store.h"

#include "core/base/log.h"
#include "server/process/clock.h"
#include "server/process/facts.h"
#include "server/config/fsync.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

// Called by the store's thread.
static void wake_loop(void *context)
{
    const struct store *store = context;

    (void)eventfd_write(store->wake_fd, 1);
}

// That the wait has ended is all. Each write to an eventfd is an edge, so nothing need be read.
static void loop_woken(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

static void duty_turn(void *journal)
{
    journal_turn(journal);
}

static uint64_t duty_reached(const void *journal)
{
    return journal_reached(journal);
}

static nsec_t duty_next_due(const void *journal)
{
    return journal_next_due(journal);
}

static enum journal_pressure duty_pressure(const void *journal)
{
    return journal_pressure(journal);
}

static bool duty_gave_up(void *journal)
{
    return journal_gave_up(journal);
}

static bool make_journal(struct store *store, const struct settings *settings, bool repair,
                         const char *host, struct reason *why)
{
    const struct store_settings *ours = &settings->journal;
    struct journal_settings theirs = {.segment_size = ours->segment_size,
                                      .max_pending = (size_t)ours->max_pending,
                                      .fail_for = nsec_from_seconds((uint64_t)ours->fail_timeout),
                                      .secret = facts_secret(),
                                      .now = clock_mono,
                                      .host = host,
                                      .repair = repair};
    struct journal_worker worker = worker_thread_interface(store->thread);

    if (!fsync_parse(ours->fsync, &theirs.sync_every_for, why)) {
        return false;
    }
    store->journal = journal_new(&theirs, &store->io, &worker);
    store->duties = (struct loop_store){.self = store->journal,
                                        .turn = duty_turn,
                                        .reached = duty_reached,
                                        .next_due = duty_next_due,
                                        .pressure = duty_pressure,
                                        .gave_up = duty_gave_up};
    if (!store->journal) {
        reason_set(why, "out of memory");
    }
    return store->journal != NULL;
}

bool store_make(struct store *store, const struct settings *settings,
                const struct store_wishes *wishes, const char *host, struct reason *why)
{
    int error;

    *store = (struct store){.settings = &settings->journal, .wake_fd = -1};
    if (*settings->journal.dir == '\0') {
        return true;
    }
    store->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = store->wake_fd < 0
                ? errno
                : worker_thread_new(&store->thread, &store->io, clock_mono, wake_loop, store);
    if (error) {
        reason_set(why, "the journal's thread: %s", strerror(error));
        return false;
    }
    return make_journal(store, settings, wishes->repair, host, why);
}

void store_record(const struct store *store, struct broker_options *options)
{
    if (store->journal) {
        options->recorder = &journal_recorder;
        options->store = store->journal;
    }
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

static bool refuse_binlog(const struct store *store, struct reason *why)
{
    bool found = false;
    int error = store->io.list(store->io.disk, look_for_binlog, &found);

    if (error) {
        reason_set(why, "%s", strerror(error));
        return false;
    }
    if (found) {
        reason_set(why, "beanstalkd has left files with jobs here (binlog.*), which would not "
                        "be taken over; let beanstalkd run until its queues are empty, name "
                        "another directory, or start with --ignore-binlog");
    }
    return !found;
}

static bool open_directory(struct store *store, const struct store_wishes *wishes,
                           struct reason *why)
{
    const char *dir = store->settings->dir;
    struct stat st;
    int error = wishes->must_exist && stat(dir, &st) != 0 ? errno : 0;

    if (!error) {
        error = journal_disk_open(&store->io, dir);
    }
    if (error) {
        reason_set(why, "%s", strerror(error));
        return false;
    }
    return wishes->ignore_binlog || refuse_binlog(store, why);
}

// Takes note of the thread's being done from now on.
static bool watch(struct store *store, struct loop *loop, struct reason *why)
{
    if (event_assign(&store->woken, loop->base, store->wake_fd, EV_READ | EV_ET | EV_PERSIST,
                     loop_woken, NULL) != 0 ||
        event_add(&store->woken, NULL) != 0) {
        reason_set(why, "out of memory or descriptors");
        return false;
    }
    return true;
}

static void announce(const struct store *store, const struct broker *broker, nsec_t took_for)
{
    struct store_info info;
    struct broker_info jobs;

    (void)broker_store_info(broker, &info);
    broker_info(broker, &jobs);
    log_info("journal_opened", log_string("dir", store->settings->dir),
             log_string("fsync", store->settings->fsync),
             log_number("segment_size", (int64_t)info.file_max),
             log_number("ready", (int64_t)jobs.jobs[JOB_READY]),
             log_number("delayed", (int64_t)jobs.jobs[JOB_DELAYED]),
             log_number("buried", (int64_t)jobs.jobs[JOB_BURIED]),
             log_number("ms", took_for / NSEC_PER_MSEC));
}

// Called by the journal's thread.
static void open_journal(void *context)
{
    struct store *store = context;
    nsec_t began_at = clock_mono();
    struct journal_error error = {""};

    store->opened = open_directory(store, &store->wishes, &store->why);
    if (store->opened && !journal_open(store->journal, store->broker, &error)) {
        reason_set(&store->why, "%s", error.text);
        store->opened = false;
    }
    store->opened_for = clock_mono() - began_at;
}

bool store_open_begin(struct store *store, const struct store_wishes *wishes, struct loop *loop,
                      struct reason *why)
{
    if (!store->journal) {
        log_info("no_journal", log_string("note", "jobs are in memory only: journal.dir is empty"));
        return true;
    }
    store->broker = loop->broker;
    store->wishes = *wishes;
    if (!watch(store, loop, why)) {
        return false;
    }
    worker_thread_call(store->thread, open_journal, store);
    return true;
}

bool store_is_opening(const struct store *store)
{
    return store->journal && !worker_thread_idle(store->thread);
}

void store_progress(const struct store *store, struct journal_progress *progress)
{
    journal_progress(store->journal, progress);
}

void store_stop_opening(struct store *store)
{
    if (store->journal) {
        journal_stop_opening(store->journal);
    }
}

bool store_open_end(struct store *store, struct loop *loop, struct reason *why)
{
    if (!store->journal) {
        return true;
    }
    if (!store->opened) {
        *why = store->why;
        reason_wrap(why, "journal %s: ", store->settings->dir);
        return false;
    }
    loop_keep(loop, &store->duties);
    announce(store, loop->broker, store->opened_for);
    return true;
}

const char *store_host(const struct store *store)
{
    return store->journal ? journal_host(store->journal) : "";
}

bool store_close(struct store *store)
{
    bool good = journal_close(store->journal);

    worker_thread_free(store->thread);
    journal_disk_close(&store->io);
    if (event_initialized(&store->woken)) {
        (void)event_del(&store->woken);
    }
    if (store->settings && store->wake_fd >= 0) {
        (void)close(store->wake_fd);
    }
    memset(store, 0, sizeof *store);
    return good;
}
