/* SPDX-License-Identifier: MIT */
#include "journal/file/disk.h"
#include "journal/file/files.h"
#include "server/store/journal_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct files_store {
    struct journal_store journal;
    struct journal_io io;
};

static struct files_store *files_store_of(const struct journal_store *store)
{
    return container_of((struct journal_store *)(uintptr_t)store, struct files_store, journal);
}

// beanstalkd calls its files binlog.1, binlog.2 ...
static void files_find_binlog(void *found, const char *name)
{
    static const char stem[] = "binlog.";
    const char *number = name + sizeof stem - 1;

    if (strncmp(name, stem, sizeof stem - 1) == 0 && *number &&
        number[strspn(number, "0123456789")] == '\0') {
        *(bool *)found = true;
    }
}

static bool files_refuse_binlog(const struct journal_store *store, struct error_text *why)
{
    bool found = false;
    int error =
        files_store_of(store)->io.list(files_store_of(store)->io.disk, files_find_binlog, &found);

    if (error) {
        return error_set(why, "%s", strerror(error));
    }
    if (found) {
        error_set(why,
                  "beanstalkd has left files with jobs here (binlog.*): with journal.import = "
                  "beanstalkd:%s they are brought in, once; with --ignore-binlog they stay",
                  store->settings->dir);
    }
    return !found;
}

static bool files_open_directory(struct journal_store *store, struct error_text *why)
{
    const struct store_options *options = &store->options;
    const char *dir = store->settings->dir;
    struct stat st;
    int error = options->must_exist && stat(dir, &st) != 0 ? errno : 0;

    if (!error) {
        error = journal_disk_open(&files_store_of(store)->io, dir);
    }
    if (error) {
        return error_set(why, "%s", strerror(error));
    }
    return options->ignore_binlog || *store->settings->import || files_refuse_binlog(store, why);
}

static const char *files_directory(const struct journal_store *store)
{
    return store->settings->dir;
}

static void files_show(const struct journal_store *store, struct introspect_journal *journal)
{
    const struct journal_io *io = &files_store_of(store)->io;

    journal->disk_free = io->space(io->disk);
}

static void files_free_store(struct journal_store *store)
{
    journal_disk_close(&files_store_of(store)->io);
    free(files_store_of(store));
}

static const struct journal_place files_place = {.key = "dir",
                                                 .medium = "a disk",
                                                 .name = files_directory,
                                                 .open = files_open_directory,
                                                 .show = files_show,
                                                 .free = files_free_store};

struct store *store_files_make(const struct store_settings *settings,
                               const struct store_options *options, const char *host,
                               struct error_text *why)
{
    struct files_store *store = calloc(1, sizeof *store);
    struct task_runner runner;

    if (!store) {
        error_set(why, "out of memory");
        return NULL;
    }
    store->journal =
        (struct journal_store){.place = &files_place, .settings = settings, .options = *options};
    runner = journal_files_runner(&store->io);
    return journal_store_make(&store->journal, journal_files_new(&store->io), &runner, host, why)
               ? &store->journal.store
               : NULL;
}
