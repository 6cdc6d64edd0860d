/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/binlog_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "lock"

void binlog_file_name(uint32_t number, char name[BINLOG_FILE_NAME])
{
    (void)snprintf(name, BINLOG_FILE_NAME, "binlog.%u", (unsigned)number);
}

// The number in the name of a binlog file; 0 for other names.
static uint32_t binlog_number(const char *name)
{
    static const char stem[] = "binlog.";
    const char *digits = name + sizeof stem - 1;
    size_t len;

    if (strncmp(name, stem, sizeof stem - 1) != 0) {
        return 0;
    }
    len = strspn(digits, "0123456789");
    return len > 0 && len < 10 && digits[len] == '\0' && *digits != '0'
               ? (uint32_t)strtoul(digits, NULL, 10)
               : 0;
}

static bool binlog_dir_add(struct binlog_dir *dir, const struct binlog_file *file)
{
    if (dir->count == dir->room) {
        size_t room = dir->room ? 2 * dir->room : 64;
        struct binlog_file *files = realloc(dir->files, room * sizeof *files);

        if (!files) {
            return false;
        }
        dir->files = files;
        dir->room = room;
    }
    dir->files[dir->count++] = *file;
    return true;
}

static bool binlog_dir_take(struct binlog_dir *dir, const char *name, struct source_news *news)
{
    struct binlog_file file = {.number = binlog_number(name)};
    struct stat st;

    if (file.number == 0) {
        return true;
    }
    if (fstatat(dir->directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        (void)source_fail(news, "%s: %s", name, strerror(errno));
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        (void)source_fail(news, "%s is not a regular file", name);
        return false;
    }
    file.size = (uint64_t)st.st_size;
    file.changed_at = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (!binlog_dir_add(dir, &file)) {
        (void)source_fail(news, "out of memory");
        return false;
    }
    return true;
}

static int compare_binlog_files(const void *a, const void *b)
{
    uint32_t left = ((const struct binlog_file *)a)->number;
    uint32_t right = ((const struct binlog_file *)b)->number;

    return (left > right) - (left < right);
}

static bool binlog_dir_list(struct binlog_dir *dir, struct source_news *news)
{
    int copy = openat(dir->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    bool good = listing != NULL;

    if (!good) {
        (void)source_fail(news, "%s", strerror(errno));
        if (copy >= 0) {
            (void)close(copy);
        }
        return false;
    }
    while (good && (entry = readdir(listing))) {
        good = binlog_dir_take(dir, entry->d_name, news);
    }
    (void)closedir(listing);
    if (dir->count > 1) {
        qsort(dir->files, dir->count, sizeof *dir->files, compare_binlog_files);
    }
    return good;
}

// beanstalkd holds a write lock on the file while it runs. A read lock excludes it, and needs no
// write permission.
static bool binlog_dir_lock(struct binlog_dir *dir, struct source_news *news)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct flock theirs = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    dir->lock = openat(dir->directory, LOCK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (dir->lock < 0) {
        if (errno != ENOENT) {
            (void)source_fail(news, LOCK_NAME ": %s", strerror(errno));
        }
        return errno == ENOENT;
    }
    if (fcntl(dir->lock, F_SETLK, &lock) == 0) {
        return true;
    }
    if (errno != EACCES && errno != EAGAIN) {
        (void)source_fail(news, LOCK_NAME ": %s", strerror(errno));
    } else if (fcntl(dir->lock, F_GETLK, &theirs) == 0 && theirs.l_type != F_UNLCK) {
        (void)source_fail(news, "beanstalkd (pid %ld) is running on it: stop it first",
                          (long)theirs.l_pid);
    } else {
        (void)source_fail(news, "beanstalkd is running on it: stop it first");
    }
    return false;
}

bool binlog_dir_open(struct binlog_dir *dir, const char *path, struct source_news *news)
{
    *dir = (struct binlog_dir){.lock = -1};
    dir->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir->directory < 0) {
        if (errno != ENOENT) {
            (void)source_fail(news, "%s", strerror(errno));
        }
        return errno == ENOENT;
    }
    return binlog_dir_lock(dir, news) && binlog_dir_list(dir, news);
}

void binlog_dir_close(struct binlog_dir *dir)
{
    if (dir->lock >= 0) {
        (void)close(dir->lock);
    }
    if (dir->directory >= 0) {
        (void)close(dir->directory);
    }
    free(dir->files);
    *dir = (struct binlog_dir){.directory = -1, .lock = -1};
}

bool binlog_window_open(struct binlog_window *window, const struct binlog_dir *dir)
{
    *window = (struct binlog_window){.dir = dir, .fd = -1, .bytes = malloc(BINLOG_WINDOW)};
    return window->bytes != NULL;
}

void binlog_window_close(struct binlog_window *window)
{
    if (window->fd >= 0) {
        (void)close(window->fd);
    }
    free(window->bytes);
    *window = (struct binlog_window){.fd = -1};
}

static int binlog_window_file(struct binlog_window *window, size_t file)
{
    char name[BINLOG_FILE_NAME];

    if (window->fd >= 0 && window->file == file) {
        return 0;
    }
    if (window->fd >= 0) {
        (void)close(window->fd);
    }
    binlog_file_name(window->dir->files[file].number, name);
    window->len = 0;
    window->file = file;
    window->fd =
        openat(window->dir->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return window->fd < 0 ? errno : 0;
}

// Reads up to `len` bytes, fewer only at the end of the file; -1 with errno.
static ssize_t binlog_read_fully(int fd, uint64_t at, char *to, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t got = pread(fd, to + done, len - done, (off_t)(at + done));

        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)done;
}

int binlog_window_read(struct binlog_window *window, size_t file, uint64_t at, size_t len,
                       struct slice *got)
{
    int error = binlog_window_file(window, file);

    ENSURE(len <= BINLOG_WINDOW);
    *got = slice_of(NULL, 0);
    if (error) {
        return error;
    }
    if (at < window->at || at + len > window->at + window->len) {
        ssize_t read = binlog_read_fully(window->fd, at, window->bytes, BINLOG_WINDOW);

        window->len = 0;
        if (read < 0) {
            return errno;
        }
        window->at = at;
        window->len = (size_t)read;
        window->reads += (uint64_t)read;
    }
    *got = slice_of(window->bytes + (at - window->at), window->len - (size_t)(at - window->at));
    got->len = got->len < len ? got->len : len;
    return 0;
}

int binlog_window_copy(struct binlog_window *window, size_t file, uint64_t at, char *to, size_t len)
{
    int error = binlog_window_file(window, file);
    ssize_t read;

    if (error) {
        return error;
    }
    read = binlog_read_fully(window->fd, at, to, len);
    if (read < 0) {
        return errno;
    }
    return (size_t)read == len ? 0 : EIO;
}
