/* SPDX-License-Identifier: MIT */

// What the general half of the journal asks of files: the table, and what is only needed for it.

#include "journal/file/store.h"

#include "journal/file/files.h"
#include "journal/file/space.h"
#include "journal/file/task_run.h"
#include "journal/file/upkeep.h"

#include <stdlib.h>

static bool before_write(struct journal *journal)
{
    struct segment *segment = files_too_small(journal);

    return segment && upkeep_make_larger(journal, segment);
}

static void has_written(struct journal *journal)
{
    const struct segment *spare = files_of(journal)->spare;

    if (spare && files_suffices(journal, spare)) {
        upkeep_has_space(journal);
    }
}

static bool has_next(const struct journal *journal)
{
    return files_of(journal)->spare != NULL;
}

static const char *host(const struct journal *journal)
{
    return files_of(journal)->about.host;
}

static void files_free(struct journal *journal)
{
    struct files *files = files_of(journal);
    struct segment *const own[] = {files->spare, files->making, files->shedding};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i]) {
            files_close_segment(journal, own[i]);
            segment_free(own[i]);
        }
    }
    if (journal->row.removing) {
        files_close_segment(journal, journal->row.removing);
    }
    for (size_t i = 0; i < journal->row.segments.count; i++) {
        files_close_segment(journal, journal->row.segments.list[i]);
    }
    if (files->locked) {
        files->io->unlock(files->io->disk);
    }
    free(files);
}

static void discard(struct storage *storage)
{
    free(container_of(storage, struct files, storage));
}

static const struct storage_ops ops = {
    .open = files_open,
    .begin = files_begin,
    .tidy = files_tidy,
    .free = files_free,
    .discard = discard,
    .can_take = files_can_take,
    .next_fits = files_next_fits,
    .move_on = files_move_on,
    .has_next = has_next,
    .next_lacks_copy = files_spare_lacks_copy,
    .bytes = files_bytes,
    .can_write = files_take_spare,
    .before_write = before_write,
    .has_written = has_written,
    .upkeep_give = upkeep_give,
    .upkeep_take_in = upkeep_take_in,
    .upkeep_after = upkeep_after,
    .replace = files_replace,
    .close = files_close_segment,
    .host = host,
    .gather_share = 5,
    .write_ahead = TASK_ZEROS_MAX,
};

struct storage *journal_files_new(const struct journal_io *io)
{
    struct files *files = calloc(1, sizeof *files);

    if (!files) {
        return NULL;
    }
    files->storage.ops = &ops;
    files->io = io;
    return &files->storage;
}
