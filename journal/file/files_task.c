/* SPDX-License-Identifier: MIT */

// Tasks of a journal in files. The order of writes, syncs and renames is what makes the journal
// safe.

#include "journal/file/files.h"

#include "journal/codec.h"
#include "journal/file/manifest.h"

#include <errno.h>
#include <time.h>

// Most buffers in one call, the limit of Linux.
enum { PARTS_MAX = 1024 };
static char task_zeros[FILES_ZEROS_MAX];

static bool task_fail(struct task *task, int error, const char *what, struct segment *bad)
{
    task->error = error;
    task->failed = what;
    task->bad = bad;
    return false;
}

static nsec_t task_now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (nsec_t)at.tv_sec * NSEC_PER_SEC + at.tv_nsec;
}

static bool task_sync_segment(struct task *task, const struct journal_io *io,
                              struct segment *segment)
{
    nsec_t began_at = task_now();
    int error = io->sync(io->disk, segment->file);

    task->syncs++;
    task->synced_for += task_now() - began_at;
    if (error) {
        return task_fail(task, error, "sync", segment);
    }
    segment->synced = segment->written;
    return true;
}

// Writes all parts, whose fields are used up.
static int task_write_parts(const struct journal_io *io, int file, struct iovec *part, int count,
                            uint64_t offset)
{
    while (count > 0) {
        size_t put = 0;
        int error = io->write(io->disk, file, part, count, offset, &put);

        if (error || put == 0) {
            return error ? error : EIO;
        }
        offset += put;
        for (; count > 0 && put >= part->iov_len; part++, count--) {
            put -= part->iov_len;
        }
        if (count > 0) {
            part->iov_base = (char *)part->iov_base + put;
            part->iov_len -= put;
        }
    }
    return 0;
}

// Adds a part of zeros to be written after `end`. Returns where they end; `end`: there are none.
static uint64_t task_add_zeros(const struct task *task, const struct segment *segment, uint64_t end,
                               struct iovec *part)
{
    uint64_t len = task->size;

    if (end <= segment->zeroed || end >= segment->size) {
        return end;
    }
    if (len > segment->size - end) {
        len = segment->size - end;
    }
    *part = (struct iovec){.iov_base = task_zeros, .iov_len = (size_t)len};
    return end + len;
}

// Writes chunks from `*next` on, and advances it: as many as are contiguous in a segment and fit
// into one call.
static bool task_write_chunks(struct task *task, const struct journal_io *io, struct chunk **next)
{
    struct iovec parts[PARTS_MAX];
    struct chunk *chunk = *next;
    struct segment *segment = chunk->segment;
    uint64_t offset = chunk->offset;
    uint64_t end = offset;
    uint64_t zeroed;
    int count = 0;
    int error;

    while (chunk && chunk->segment == segment && chunk->offset == end &&
           count + CHUNK_PARTS < PARTS_MAX) {
        chunk_seal(chunk);
        count += chunk_parts(chunk, parts + count);
        end += chunk_size(chunk);
        chunk = chunk->next;
    }
    *next = chunk;
    zeroed = task_add_zeros(task, segment, end, parts + count);
    error = task_write_parts(io, segment->file, parts, count + (zeroed > end), offset);
    if (error) {
        return task_fail(task, error, "write", segment);
    }
    segment->written = end;
    segment->zeroed = zeroed > segment->zeroed ? zeroed : segment->zeroed;
    return true;
}

// The head is written last: with its name, the file becomes the youngest segment, and its head
// defines where the segment before ends. Nothing before that place may be missing then. If the
// directory cannot be synced, the name may last or not: the file is complete, but no client was
// told of its records, and another file can replace it.
static bool task_publish(struct task *task, const struct journal_io *io, struct segment *segment)
{
    char head[CODEC_SEGMENT_HEAD];
    struct iovec part = {.iov_base = head, .iov_len = sizeof head};
    char name[SEGMENT_NAME_MAX];
    int error;

    segment_put_head(head, segment);
    segment_name(segment->number, name);
    error = task_write_parts(io, segment->file, &part, 1, 0);
    if (error == 0) {
        error = io->sync(io->disk, segment->file);
    }
    if (error == 0) {
        error = io->rename(io->disk, SEGMENT_SPARE_NAME, name);
    }
    if (error == 0) {
        error = io->sync_directory(io->disk);
    }
    if (error) {
        return task_fail(task, error, "publish", segment);
    }
    segment->synced = segment->written;
    segment_set_state(segment, SEGMENT_PUBLISHED);
    return true;
}

// No more is written to that segment. If it has failed, it ends where it is known to be safe; if
// nothing was ever synced, there is no guarantee.
static bool task_leave(struct task *task, const struct journal_io *io, struct segment *segment)
{
    if (segment->file < 0 || segment->synced >= segment->written) {
        return true;
    }
    if (segment->state == SEGMENT_FAILED) {
        (void)io->sync(io->disk, segment->file);
        return true;
    }
    return task_sync_segment(task, io, segment);
}

static bool task_run_write(struct task *task, const struct journal_io *io)
{
    struct segment *at = task->before;
    struct chunk *chunk = task->batch->head;

    while (chunk) {
        struct segment *segment = chunk->segment;

        if (at && at != segment && !task_leave(task, io, at)) {
            return false;
        }
        while (chunk && chunk->segment == segment) {
            if (!task_write_chunks(task, io, &chunk)) {
                return false;
            }
        }
        if (!segment_is_published(segment) && !task_publish(task, io, segment)) {
            return false;
        }
        at = segment;
    }
    return !task->sync || !at || at->synced >= at->written || task_sync_segment(task, io, at);
}

static bool task_run_sync(struct task *task, const struct journal_io *io)
{
    return task_sync_segment(task, io, task->segment);
}

static bool task_run_prepare(struct task *task, const struct journal_io *io)
{
    bool begins = task->segment->file < 0;
    int file = task->segment->file;
    int error = begins ? io->open(io->disk, SEGMENT_SPARE_NAME, JOURNAL_OPEN_CREATE, &file) : 0;

    if (error) {
        return task_fail(task, error, "open", task->segment);
    }
    error = io->allocate(io->disk, file, task->size);
    if (error) {
        (void)io->remove(io->disk, SEGMENT_SPARE_NAME);
        if (begins) {
            io->close(io->disk, file);
        }
        return task_fail(task, error, "allocate", task->segment);
    }
    if (begins) {
        task->segment->file = file;
    }
    return true;
}

static bool task_run_resize(struct task *task, const struct journal_io *io)
{
    struct segment *segment = task->segment;
    bool more = task->size > segment->size;
    int error = more ? io->allocate(io->disk, segment->file, task->size)
                     : io->truncate(io->disk, segment->file, task->size);

    if (error) {
        if (more) {
            // A part of it may have been allocated.
            (void)io->truncate(io->disk, segment->file, segment->size);
        }
        return task_fail(task, error, more ? "allocate" : "resize", segment);
    }
    return true;
}

static void task_close_segment(const struct journal_io *io, struct segment *segment)
{
    if (segment->file >= 0) {
        io->close(io->disk, segment->file);
        segment->file = -1;
    }
}

// A damaged file is kept, since its lost records may still be useful. An open file keeps its space
// without a name; if it cannot be opened, the space is freed with the name.
static int task_take_name(const struct task *task, const struct journal_io *io)
{
    struct segment *segment = task->segment;
    char name[SEGMENT_NAME_MAX];
    char aside[SEGMENT_NAME_MAX];

    segment_name(segment->number, name);
    if (segment->damaged) {
        segment_aside_name(segment->number, aside);
        return io->rename(io->disk, name, aside);
    }
    if (segment->size > task->size &&
        io->open(io->disk, name, JOURNAL_OPEN_READ, &segment->file) != 0) {
        segment->file = -1;
    }
    return io->remove(io->disk, name);
}

static bool task_run_remove(struct task *task, const struct journal_io *io)
{
    int error = task_take_name(task, io);

    if (error == 0 || error == ENOENT) {
        error = io->sync_directory(io->disk);
    }
    if (error) {
        task_close_segment(io, task->segment);
        return task_fail(task, error, "remove", task->segment);
    }
    return true;
}

static bool task_run_free_space(struct task *task, const struct journal_io *io)
{
    int error = io->truncate(io->disk, task->segment->file, task->size);

    if (error || task->size == 0) {
        task_close_segment(io, task->segment);
    }
    return true;
}

static bool task_run_manifest(struct task *task, const struct journal_io *io)
{
    int error = manifest_save(task->manifest, io);

    return error == 0 || task_fail(task, error, "write " MANIFEST_NAME, task->segment);
}

void task_run(struct task *task, const struct journal_io *io)
{
    static bool (*const runs[])(struct task *, const struct journal_io *) = {
        [TASK_WRITE] = task_run_write,       [TASK_SYNC] = task_run_sync,
        [TASK_PREPARE] = task_run_prepare,   [TASK_RESIZE] = task_run_resize,
        [TASK_REMOVE] = task_run_remove,     [TASK_FREE_SPACE] = task_run_free_space,
        [TASK_MANIFEST] = task_run_manifest,
    };

    task->error = 0;
    task->syncs = 0;
    task->synced_for = 0;
    task->failed = NULL;
    task->bad = NULL;
    // Files have no lease to renew.
    ENSURE(task->kind != TASK_RENEW_LEASE);
    (void)runs[task->kind](task, io);
}

static void task_run_on(const void *io, struct task *task)
{
    task_run(task, io);
}

struct task_runner journal_files_runner(const struct journal_io *io)
{
    return (struct task_runner){.self = io, .run = task_run_on};
}
