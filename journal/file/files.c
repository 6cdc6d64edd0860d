/* SPDX-License-Identifier: MIT */

// A journal in files as a storage: opening and closing, which may wait for the disk, and the table.

#include "journal/file/files.h"

#include "core/base/log.h"
#include "journal/file/files_private.h"
#include "journal/file/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// The space beside reserved bytes that a journal opened on a full disk should have, and must have.
#define SCANTY ((uint64_t)64 * 1024)
#define SCANTIEST ((uint64_t)4 * 1024)

// Records in the manifest where the journal ends. False if that failed.
static bool files_say_closed(struct journal *journal)
{
    const struct segment *current = journal->segments.current;
    struct manifest manifest = files_of(journal)->manifest;
    const struct journal_io *io = files_of(journal)->io;

    if (current->state != SEGMENT_PUBLISHED) {
        return true;
    }
    manifest.youngest = current->number;
    manifest.end = current->end;
    return manifest_save(&manifest, io) == 0 && io->sync_directory(io->disk) == 0;
}

//
// Opening
//

static bool files_claim(struct journal *journal, struct error_text *why)
{
    const struct journal_io *io = files_of(journal)->io;
    int error = io->lock(io->disk);

    if (error == EWOULDBLOCK) {
        return error_set(why, "another process uses this journal");
    }
    if (error == EBUSY) {
        return error_set(why, "a beanstalkd is running on this directory: stop it first");
    }
    if (error) {
        return error_set(why, "the directory cannot be locked: %s", strerror(error));
    }
    files_of(journal)->locked = true;
    return true;
}

static bool files_open(struct journal *journal, struct restored *restored, struct error_text *why)
{
    const char *host = journal->settings.host;
    struct manifest *manifest = &files_of(journal)->manifest;

    if (!files_claim(journal, why) || !replay_files(journal, restored, why)) {
        return false;
    }
    // Files without the name of a host get the name of this one.
    if (manifest->host[0] == '\0' && host) {
        size_t len = strnlen(host, MANIFEST_HOST_MAX);

        memcpy(manifest->host, host, len);
        manifest->host[len] = '\0';
    }
    return true;
}

// Frees unused space of the last process's segments: that of the youngest, and of others where a
// power failure has undone it.
static void files_give_back(const struct journal *journal)
{
    const struct journal_io *io = files_of(journal)->io;

    for (size_t i = 0; i < journal->segments.list.count && !progress_stops(&journal->progress);
         i++) {
        struct segment *segment = journal->segments.list.items[i];
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

// Creates the first file to write to. On a full disk a small one is enough to work jobs.
static bool files_begin(struct journal *journal, struct error_text *why)
{
    const uint64_t sizes[] = {journal->settings.segment_size + journal->ledger.reserved,
                              CODEC_SEGMENT_HEAD + journal->ledger.reserved + SCANTY,
                              CODEC_SEGMENT_HEAD + journal->ledger.reserved + SCANTIEST};
    struct task task = {.kind = TASK_PREPARE};

    files_give_back(journal);
    task.segment = segment_new(0, files_draw_salt(journal));
    if (!task.segment || !segment_list_make_room(&journal->segments.list)) {
        segment_free(task.segment);
        return error_set(why, "out of memory");
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        task.size = sizes[i];
        if (slot_run(&journal->slot, &task) == 0) {
            task.segment->size = task.size;
            files_follow(journal, task.segment);
            return true;
        }
        if (!files_disk_is_full(task.error)) {
            break;
        }
    }
    segment_free(task.segment);
    return error_set(why, "cannot create a file of %llu bytes: %s", (unsigned long long)task.size,
                     strerror(task.error));
}

//
// Closing
//

// Frees unused space, so that a closed journal is as small as possible. Everything is synced, so
// emptied segments can be removed.
static bool files_tidy(struct journal *journal)
{
    const struct journal_io *io = files_of(journal)->io;

    for (size_t i = 0; i < journal->segments.list.count; i++) {
        const struct segment *segment = journal->segments.list.items[i];

        if (segment->state == SEGMENT_PUBLISHED && segment_is_open(segment)) {
            (void)io->truncate(io->disk, segment->file, segment->end);
            (void)io->sync(io->disk, segment->file);
        }
    }
    if (files_of(journal)->next) {
        (void)io->remove(io->disk, SEGMENT_SPARE_NAME);
    }
    // No client waits: the space is freed at once.
    if (journal->segments.removing) {
        struct task task = {
            .kind = TASK_REMOVE, .segment = journal->segments.removing, .size = UINT64_MAX};

        (void)slot_run(&journal->slot, &task);
    }
    // Without it, the next start only knows less.
    (void)files_say_closed(journal);
    return true;
}

//
// The storage
//

static bool files_before_write(struct journal *journal)
{
    struct segment *segment = files_too_small(journal);

    return segment && files_enlarge(journal, segment);
}

static void files_has_written(struct journal *journal)
{
    const struct segment *spare = files_spare(journal);

    if (spare && files_suffices(journal, spare)) {
        files_has_space_again(journal);
    }
}

static bool files_has_next(const struct journal *journal)
{
    return files_spare(journal) != NULL;
}

static const char *files_host(const struct journal *journal)
{
    return files_of(journal)->manifest.host;
}

static void files_free(struct journal *journal)
{
    struct files *files = files_of(journal);
    struct segment *const own[] = {files->next, files->freeing};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i]) {
            files_close_segment(journal, own[i]);
            segment_free(own[i]);
        }
    }
    if (journal->segments.removing) {
        files_close_segment(journal, journal->segments.removing);
    }
    for (size_t i = 0; i < journal->segments.list.count; i++) {
        files_close_segment(journal, journal->segments.list.items[i]);
    }
    if (files->locked) {
        files->io->unlock(files->io->disk);
    }
    free(files);
}

static void files_discard(struct storage *storage)
{
    free(container_of(storage, struct files, storage));
}

static const struct storage_ops files_ops = {
    .open = files_open,
    .begin = files_begin,
    .tidy = files_tidy,
    .free = files_free,
    .discard = files_discard,
    .can_take = files_can_take,
    .next_fits = files_next_fits,
    .move_on = files_move_on,
    .has_next = files_has_next,
    .next_too_small = files_spare_lacks_copy,
    .bytes = files_bytes,
    .can_write = files_take_spare,
    .before_write = files_before_write,
    .has_written = files_has_written,
    .maintain = files_maintain,
    .maintained = files_maintained,
    .maintenance_share = files_maintenance_share,
    .write_failed = files_write_failed,
    .close = files_close_segment,
    .host = files_host,
    .gather_share = 5,
    .write_ahead = FILES_ZEROS_MAX,
};

struct storage *journal_files_new(const struct journal_io *io)
{
    struct files *files = calloc(1, sizeof *files);

    if (!files) {
        return NULL;
    }
    files->storage.ops = &files_ops;
    files->io = io;
    return &files->storage;
}
