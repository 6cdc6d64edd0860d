/* SPDX-License-Identifier: MIT */

// The files at the start, when nobody is served yet, and at the end, when nobody is any more: here
// it may wait for the disk.

#include "core/base/log.h"
#include "journal/file/files.h"
#include "journal/file/replay.h"

#include <errno.h>
#include <string.h>

// What a journal that is opened on a full disk may have beside its reserved bytes, and what it
// must.
#define SCANTY ((uint64_t)64 * 1024)
#define SCANTIEST ((uint64_t)4 * 1024)

// False where that could not be said.
static bool say_closed(struct journal *journal)
{
    const struct segment *current = journal->row.current;
    struct about about = files_of(journal)->about;
    const struct journal_io *io = files_of(journal)->io;

    if (!current->published || current->failed) {
        return true;
    }
    about.youngest = current->number;
    about.end = current->end;
    return about_save(&about, io) == 0 && io->sync_directory(io->disk) == 0;
}

// The name of the host, for a journal that has none.
static void name_host(struct journal *journal, const char *host)
{
    if (files_of(journal)->about.host[0] == '\0' && host) {
        size_t len = strnlen(host, ABOUT_HOST_MAX);

        memcpy(files_of(journal)->about.host, host, len);
        files_of(journal)->about.host[len] = '\0';
    }
}

//
// Opening
//

static bool claim(struct journal *journal, struct error_text *why)
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
        return error_set(why, "cannot be claimed: %s", strerror(error));
    }
    files_of(journal)->locked = true;
    return true;
}

bool files_open(struct journal *journal, struct restored *restored, struct error_text *why)
{
    if (!claim(journal, why) || !replay_files(journal, restored, why)) {
        return false;
    }
    name_host(journal, journal->settings.host);
    return true;
}

// Segments of the last time may have space set aside that is of no use any more: the youngest has,
// and others where a power cut has undone that they gave it back.
static void give_back(const struct journal *journal)
{
    const struct journal_io *io = files_of(journal)->io;

    for (size_t i = 0; i < journal->row.segments.count && !progress_stops(&journal->progress);
         i++) {
        struct segment *segment = journal->row.segments.list[i];
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
static bool begin_file(struct journal *journal, struct error_text *why)
{
    const uint64_t sizes[] = {journal->settings.segment_size + journal->ledger.reserved,
                              CODEC_SEGMENT_HEAD + journal->ledger.reserved + SCANTY,
                              CODEC_SEGMENT_HEAD + journal->ledger.reserved + SCANTIEST};
    struct task task = {.kind = TASK_PREPARE};

    task.segment = segment_new(0, files_draw_salt(journal));
    if (!task.segment || !segments_make_room(&journal->row.segments)) {
        segment_free(task.segment);
        return error_set(why, "out of memory");
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        task.size = sizes[i];
        if (work_do(&journal->work, &task) == 0) {
            files_follow(journal, task.segment);
            return true;
        }
        if (!files_disk_is_full(task.error)) {
            break;
        }
    }
    segment_free(task.segment);
    return error_set(why, "a file of %llu bytes cannot be made: %s", (unsigned long long)task.size,
                     strerror(task.error));
}

bool files_begin(struct journal *journal, struct error_text *why)
{
    give_back(journal);
    return begin_file(journal, why);
}

//
// Closing
//

// What is set aside is given back, so that a journal at rest is as large as it need be. All is
// synced: what compaction has emptied can go.
bool files_tidy(struct journal *journal)
{
    const struct journal_io *io = files_of(journal)->io;

    for (size_t i = 0; i < journal->row.segments.count; i++) {
        const struct segment *segment = journal->row.segments.list[i];

        if (segment->published && segment->file >= 0 && !segment->failed) {
            (void)io->truncate(io->disk, segment->file, segment->end);
            (void)io->sync(io->disk, segment->file);
        }
    }
    if (files_of(journal)->spare || files_of(journal)->making) {
        (void)io->remove(io->disk, SEGMENT_SPARE_NAME);
    }
    // Nobody waits for that.
    if (journal->row.removing) {
        struct task task = {
            .kind = TASK_REMOVE, .segment = journal->row.removing, .size = UINT64_MAX};

        (void)work_do(&journal->work, &task);
    }
    // Nothing is lost where it is not said.
    (void)say_closed(journal);
    return true;
}
