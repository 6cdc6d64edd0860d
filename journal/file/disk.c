/* SPDX-License-Identifier: MIT */

// The disk. Files are opened relative to a descriptor of the directory, so that it does not matter
// where its path leads later.
//
// The GNU names are F_OFD_SETLK, SEEK_DATA, O_NOFOLLOW and flock().

#define _GNU_SOURCE
#include "journal/file/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LOCK_NAME "lock"
#define FILE_FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW)

//
// The directory
//

static int directory_sync(int directory)
{
    int error;

    do {
        error = fsync(directory) == 0 ? 0 : errno;
    } while (error == EINTR);
    return error;
}

// Syncs the directory that contains the last name of the path, so that the name will last.
static int directory_sync_parent(char *path)
{
    char *slash = strrchr(path, '/');
    int parent;
    int error;

    if (slash && slash != path) {
        *slash = '\0';
    }
    parent = open(slash == path ? "/" : slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    error = parent < 0 ? errno : directory_sync(parent);
    if (slash) {
        *slash = '/';
    }
    if (parent >= 0) {
        (void)close(parent);
    }
    return error;
}

// Creates the directory if its parent exists. Slashes at the end are cut off.
static int directory_make(char *path)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/') {
        path[--len] = '\0';
    }
    if (mkdir(path, 0700) != 0) {
        return errno == EEXIST ? 0 : errno;
    }
    return directory_sync_parent(path);
}

static int directory_open(const char *path, int *directory)
{
    static const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    char *copy;
    int error = 0;

    *directory = open(path, flags);
    if (*directory >= 0 || errno != ENOENT || !*path) {
        return *directory < 0 ? errno : 0;
    }
    copy = strdup(path);
    if (!copy) {
        return ENOMEM;
    }
    error = directory_make(copy);
    free(copy);
    if (error) {
        return error;
    }
    *directory = open(path, flags);
    return *directory < 0 ? errno : 0;
}

//
// The disk
//

struct disk {
    int directory;
    int lock;               // -1: not held
    _Atomic uint64_t space; // after the last call that may have changed it
};

// The result of a system call that returns 0, or -1 and sets errno.
static int disk_result(int result)
{
    return result == 0 ? 0 : errno;
}

// A flock belongs to the open file, so it excludes another opening by this process, too.
static int disk_claim(int file)
{
    return disk_result(flock(file, LOCK_EX | LOCK_NB));
}

// beanstalkd locks the same file by fcntl(), for writing. A read lock excludes it, but not our
// import, which has a read lock, too. An open file description lock lasts as long as the file is
// open, even if this process closes another descriptor of it. A file system without such locks
// excludes no process.
static int disk_claim_from_beanstalkd(int file)
{
    struct flock ours = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct flock theirs = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    if (fcntl(file, F_OFD_SETLK, &ours) == 0 || (errno != EAGAIN && errno != EACCES)) {
        return 0;
    }
    // A process in another container has no pid here.
    return fcntl(file, F_OFD_GETLK, &theirs) == 0 && theirs.l_type != F_UNLCK ? EBUSY : 0;
}

// The directory cannot be replaced while it is used, as a file in it could. Some network file
// systems cannot lock directories: then the file has to be enough.
static int disk_claim_directory(const struct disk *disk)
{
    int error = disk_claim(disk->directory);

    return error == EWOULDBLOCK ? error : 0;
}

// Whether the name still leads to the open file: before it was locked, another process may have
// removed or replaced it.
static bool disk_has_lock_name(const struct disk *disk, int file)
{
    struct stat ours;
    struct stat there;

    return fstat(file, &ours) == 0 &&
           fstatat(disk->directory, LOCK_NAME, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

// The lock file tells other processes, and older versions, that the directory is used.
static int disk_claim_file(struct disk *disk)
{
    for (;;) {
        int file = openat(disk->directory, LOCK_NAME, FILE_FLAGS | O_CREAT, 0600);
        int error;

        if (file < 0) {
            return errno;
        }
        error = disk_claim(file);
        if (error == 0 && disk_has_lock_name(disk, file)) {
            error = disk_claim_from_beanstalkd(file);
            if (error == 0) {
                disk->lock = file;
                return 0;
            }
        }
        (void)close(file);
        if (error) {
            return error;
        }
    }
}

static int disk_lock(void *self)
{
    struct disk *disk = self;
    int error;

    if (disk->lock >= 0) {
        return EWOULDBLOCK;
    }
    error = disk_claim_directory(disk);
    if (error) {
        return error;
    }
    error = disk_claim_file(disk);
    if (error) {
        (void)flock(disk->directory, LOCK_UN);
    }
    return error;
}

static void disk_unlock(void *self)
{
    struct disk *disk = self;

    // The file remains, so that all processes open the same one.
    if (disk->lock >= 0) {
        (void)close(disk->lock);
        disk->lock = -1;
        (void)flock(disk->directory, LOCK_UN);
    }
}

static int disk_list(void *self, void (*each)(void *context, const char *name), void *context)
{
    struct disk *disk = self;
    int copy = openat(disk->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    int error;

    if (!listing) {
        error = errno;
        if (copy >= 0) {
            (void)close(copy);
        }
        return error;
    }
    for (;;) {
        errno = 0;
        entry = readdir(listing);
        if (!entry) {
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            each(context, entry->d_name);
        }
    }
    error = errno;
    (void)closedir(listing);
    return error;
}

static int disk_open(void *self, const char *name, enum journal_open how, int *file)
{
    const struct disk *disk = self;
    int flags = FILE_FLAGS | (how == JOURNAL_OPEN_CREATE ? O_CREAT | O_TRUNC : 0);

    do {
        *file = openat(disk->directory, name, flags, 0600);
    } while (*file < 0 && errno == EINTR);
    return *file < 0 ? errno : 0;
}

static void disk_close(void *self, int file)
{
    (void)self;
    (void)close(file);
}

static int disk_size(void *self, int file, uint64_t *size)
{
    struct stat st;

    (void)self;
    if (fstat(file, &st) != 0) {
        return errno;
    }
    *size = (uint64_t)st.st_size;
    return 0;
}

static int disk_read(void *self, int file, void *to, size_t len, uint64_t offset, size_t *got)
{
    ssize_t count;

    (void)self;
    do {
        count = pread(file, to, len, (off_t)offset);
    } while (count < 0 && errno == EINTR);
    *got = count < 0 ? 0 : (size_t)count;
    return count < 0 ? errno : 0;
}

static uint64_t disk_data(void *self, int file, uint64_t offset)
{
    off_t at = lseek(file, (off_t)offset, SEEK_DATA);

    (void)self;
    if (at < 0) {
        return errno == ENXIO ? UINT64_MAX : offset;
    }
    return (uint64_t)at;
}

static int disk_write(void *self, int file, const struct iovec *parts, int count, uint64_t offset,
                      size_t *put)
{
    ssize_t written;

    (void)self;
    do {
        written = pwritev(file, parts, count < UIO_MAXIOV ? count : UIO_MAXIOV, (off_t)offset);
    } while (written < 0 && errno == EINTR);
    *put = written < 0 ? 0 : (size_t)written;
    return written < 0 ? errno : 0;
}

// Asks the file system for its free space. On a network this may wait, so it must not be called
// where waiting is forbidden.
static void disk_note_space(struct disk *disk)
{
    struct statvfs space;

    disk->space = fstatvfs(disk->directory, &space) == 0 ? (uint64_t)space.f_bavail * space.f_frsize
                                                         : UINT64_MAX;
}

static int disk_sync(void *self, int file)
{
    int error;

    do {
        error = disk_result(fdatasync(file));
    } while (error == EINTR);
    disk_note_space(self);
    return error;
}

// The present bytes of a file are allocated already.
static int disk_allocate(void *self, int file, uint64_t size)
{
    uint64_t from = 0;
    int error = disk_size(self, file, &from);

    if (error || from >= size) {
        return error;
    }
    // If the file system does not support it, the C library writes to each block.
    do {
        error = posix_fallocate(file, (off_t)from, (off_t)(size - from));
    } while (error == EINTR);
    disk_note_space(self);
    return error;
}

static int disk_truncate(void *self, int file, uint64_t size)
{
    int error;

    do {
        error = disk_result(ftruncate(file, (off_t)size));
    } while (error == EINTR);
    disk_note_space(self);
    return error;
}

static uint64_t disk_space(void *self)
{
    const struct disk *disk = self;

    return disk->space;
}

static int disk_rename(void *self, const char *from, const char *to)
{
    const struct disk *disk = self;

    return disk_result(renameat(disk->directory, from, disk->directory, to));
}

static int disk_remove(void *self, const char *name)
{
    struct disk *disk = self;
    int error = disk_result(unlinkat(disk->directory, name, 0));

    disk_note_space(disk);
    return error;
}

static int disk_sync_directory(void *self)
{
    const struct disk *disk = self;

    return directory_sync(disk->directory);
}

int journal_disk_open(struct journal_io *io, const char *path)
{
    struct disk *disk = malloc(sizeof *disk);
    int error;

    *io = (struct journal_io){.disk = NULL};
    if (!disk) {
        return ENOMEM;
    }
    disk->lock = -1;
    error = directory_open(path, &disk->directory);
    if (error) {
        free(disk);
        return error;
    }
    disk_note_space(disk);
    *io = (struct journal_io){
        .disk = disk,
        .lock = disk_lock,
        .unlock = disk_unlock,
        .list = disk_list,
        .open = disk_open,
        .close = disk_close,
        .size = disk_size,
        .read = disk_read,
        .data = disk_data,
        .write = disk_write,
        .sync = disk_sync,
        .allocate = disk_allocate,
        .truncate = disk_truncate,
        .space = disk_space,
        .rename = disk_rename,
        .remove = disk_remove,
        .sync_directory = disk_sync_directory,
    };
    return 0;
}

void journal_disk_close(struct journal_io *io)
{
    struct disk *disk = io->disk;

    if (disk) {
        disk_unlock(disk);
        (void)close(disk->directory);
        free(disk);
        *io = (struct journal_io){.disk = NULL};
    }
}

//
// Inspection: nothing is changed
//

struct disk_reader {
    struct journal_io real; // for listing and reading
    int directory;
    int lock; // -1: not held, or the file is missing
};

//
// The claim
//

// As a broker claims it, but no file is created. If the file system cannot lock directories, the
// lock file has to be enough.
static int reader_lock(void *self)
{
    struct disk_reader *reader = self;
    int error = disk_claim(reader->directory);

    if (error == EWOULDBLOCK) {
        return error;
    }
    reader->lock = openat(reader->directory, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (reader->lock < 0) {
        return errno == ENOENT ? 0 : errno;
    }
    return disk_claim(reader->lock);
}

static void reader_unlock(void *self)
{
    struct disk_reader *reader = self;

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
    const struct disk_reader *reader = self;

    return reader->real.list(reader->real.disk, each, context);
}

static int reader_open(void *self, const char *name, enum journal_open how, int *file)
{
    const struct disk_reader *reader = self;

    if (how == JOURNAL_OPEN_CREATE) {
        return EROFS;
    }
    do {
        *file = openat(reader->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    } while (*file < 0 && errno == EINTR);
    return *file < 0 ? errno : 0;
}

//
// Operations that are not executed
//

static int readonly_write(void *self, int file, const struct iovec *parts, int count,
                          uint64_t offset, size_t *put)
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

static int readonly_sync(void *self, int file)
{
    (void)self;
    (void)file;
    return 0;
}

static int readonly_resize(void *self, int file, uint64_t size)
{
    (void)self;
    (void)file;
    (void)size;
    return 0;
}

static int readonly_rename(void *self, const char *from, const char *to)
{
    (void)self;
    (void)from;
    (void)to;
    return 0;
}

static int readonly_remove(void *self, const char *name)
{
    (void)self;
    (void)name;
    return 0;
}

static int readonly_sync_directory(void *self)
{
    (void)self;
    return 0;
}

static uint64_t readonly_space(void *self)
{
    (void)self;
    return UINT64_MAX;
}

//
// Opening and closing
//

static int reader_begin(struct disk_reader *reader, const char *path)
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

int journal_disk_open_readonly(struct journal_io *io, const char *path)
{
    struct disk_reader *reader = calloc(1, sizeof *reader);
    int error = reader ? reader_begin(reader, path) : ENOMEM;

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
    io->write = readonly_write;
    io->sync = readonly_sync;
    io->allocate = readonly_resize;
    io->truncate = readonly_resize;
    io->space = readonly_space;
    io->rename = readonly_rename;
    io->remove = readonly_remove;
    io->sync_directory = readonly_sync_directory;
    return 0;
}

void journal_disk_close_readonly(struct journal_io *io)
{
    struct disk_reader *reader = io->disk;

    if (reader) {
        reader_unlock(reader);
        journal_disk_close(&reader->real);
        (void)close(reader->directory);
        free(reader);
        *io = (struct journal_io){.disk = NULL};
    }
}
