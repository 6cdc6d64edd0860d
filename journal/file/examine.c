/* SPDX-License-Identifier: MIT */
#include "journal/file/examine.h"

#include "core/broker.h"
#include "core/restore.h"
#include "journal/file/disk.h"
#include "journal/file/files.h"
#include "journal/journal_private.h"

#include <string.h>
#include <time.h>

static nsec_t examine_clock(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return nsec_from_seconds((uint64_t)now.tv_sec) + now.tv_nsec;
}

static nsec_t examine_now(void)
{
    return examine_clock(CLOCK_MONOTONIC);
}

// No task is given while a journal is read.
static const struct journal_worker examine_no_worker;

static bool examine_jobs(struct journal *journal, struct broker *broker,
                         struct journal_examined *examined, struct error_text *why)
{
    struct restored restored = {0};
    struct broker_info info;

    journal->broker = broker;
    if (!journal->storage->ops->open(journal, &restored, why)) {
        return false;
    }
    if (broker_restore_finish(broker, restored.ids_end ? restored.ids_end : 1) != STATUS_OK) {
        return error_set(why, "out of memory");
    }
    broker_info(broker, &info);
    *examined = (struct journal_examined){.ready = info.jobs[JOB_READY],
                                          .delayed = info.jobs[JOB_DELAYED],
                                          .buried = info.jobs[JOB_BURIED],
                                          .queues = info.queues,
                                          .damaged = restored.damaged};
    return true;
}

static bool examine_directory(const struct journal_io *io, struct journal_examined *examined,
                              struct error_text *why)
{
    const struct journal_settings settings = {
        .sync_every_for = NSEC_NEVER, .now = examine_now, .repair = true};
    const struct instant now = {.mono = examine_now(), .wall = examine_clock(CLOCK_REALTIME)};
    struct journal *journal = journal_new(&settings, journal_files_new(io), &examine_no_worker);
    struct broker_options options = {.recorder = &journal_recorder, .store = journal};
    struct broker *broker = journal ? broker_new(&options, now) : NULL;
    bool good = false;

    if (broker) {
        good = examine_jobs(journal, broker, examined, why);
    } else {
        error_set(why, "out of memory");
    }
    // It was never opened for writing: nothing is written.
    (void)journal_close(journal);
    broker_free(broker);
    return good;
}

bool journal_examine(const char *path, struct journal_examined *examined, struct error_text *why)
{
    struct journal_io io;
    int error = journal_disk_open_readonly(&io, path);
    bool good;

    *examined = (struct journal_examined){0};
    if (error) {
        return error_set(why, "%s", strerror(error));
    }
    good = examine_directory(&io, examined, why);
    journal_disk_close_readonly(&io);
    return good;
}
