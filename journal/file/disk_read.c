/* SPDX-License-Identifier: MIT */

// For O_NOFOLLOW and flock() beside POSIX.
#define _GNU_SOURCE
#include "journal/file/disk_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define LOCK_NAME "lock"

struct reader {
    struct journal_io real; // lists and reads
    int directory;
    int lock; // -1: not held, or there is no such file
};

//
// The claim
//

static int claim(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}

// As a broker does it, but that no file is made. Where the file system locks no directory, the file
// has to do.
static int reader_lock(void *self)
{
    struct reader *reader = self;
    int error = claim(reader->directory);

    if (error == EWOULDBLOCK) {
        return error;
    }
    reader->lock = openat(reader->directory, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (reader->lock < 0) {
        return errno == ENOENT ? 0 : errno;
    }
    return claim(reader->lock);
}

static void reader_unlock(void *self)
{
    struct reader *reader = self;

    if (reader->lock >= 0) {
        (void)close(reader->lock);
        reader->lock = -1;
    }
    (void)flock(reader->directory, LOCK_UN);
}

//
// Reading
//

static int reader_list(void *self, void (*each)(void *context, const char *name), void *context)
{
    const struct reader *reader = self;

    return reader->real.list(reader->real.disk, each, context);
}

static int reader_open(void *self, const char *name, enum journal_open how, int *file)
{
    const struct reader *reader = self;

    if (how == JOURNAL_OPEN_CREATE) {
        return EROFS;
    }
    do {
        *file = openat(reader->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    } while (*file < 0 && errno == EINTR);
    return *file < 0 ? errno : 0;
}

//
// What is not done
//

static int still_write(void *self, int file, const struct iovec *parts, int count, uint64_t offset,
                       size_t *put)
{
    (void)self;
    (void)file;
    (void)offset;
    *put = 0;
    for (int i = 0; i < count; i++) {
        *put += parts[i].iov_len;
    }
    return 0;
}

static int still_sync(void *self, int file)
{
    (void)self;
    (void)file;
    return 0;
}

static int still_resize(void *self, int file, uint64_t size)
{
    (void)self;
    (void)file;
    (void)size;
    return 0;
}

static int still_rename(void *self, const char *from, const char *to)
{
    (void)self;
    (void)from;
    (void)to;
    return 0;
}

static int still_remove(void *self, const char *name)
{
    (void)self;
    (void)name;
    return 0;
}

static int still_sync_directory(void *self)
{
    (void)self;
    return 0;
}

static uint64_t unknown_space(void *self)
{
    (void)self;
    return UINT64_MAX;
}

//
// Opening and closing
//

static int open_reader(struct reader *reader, const char *path)
{
    int error;

    reader->lock = -1;
    reader->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (reader->directory < 0) {
        return errno;
    }
    error = journal_disk_open(&reader->real, path);
    if (error) {
        (void)close(reader->directory);
    }
    return error;
}

int disk_read_open(struct journal_io *io, const char *path)
{
    struct reader *reader = calloc(1, sizeof *reader);
    int error = reader ? open_reader(reader, path) : ENOMEM;

    *io = (struct journal_io){.disk = NULL};
    if (error) {
        free(reader);
        return error;
    }
    *io = reader->real;
    io->disk = reader;
    io->lock = reader_lock;
    io->unlock = reader_unlock;
    io->list = reader_list;
    io->open = reader_open;
    io->write = still_write;
    io->sync = still_sync;
    io->allocate = still_resize;
    io->truncate = still_resize;
    io->space = unknown_space;
    io->rename = still_rename;
    io->remove = still_remove;
    io->sync_directory = still_sync_directory;
    return 0;
}

void disk_read_close(struct journal_io *io)
{
    struct reader *reader = io->disk;

    if (reader) {
        reader_unlock(reader);
        journal_disk_close(&reader->real);
        (void)close(reader->directory);
        free(reader);
        *io = (struct journal_io){.disk = NULL};
    }
}
