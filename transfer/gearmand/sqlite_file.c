/* SPDX-License-Identifier: MIT */
// A lease of a file is refused while somebody has it open to write (fcntl(2)).
#define _GNU_SOURCE

#include "transfer/gearmand/sqlite_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What may lie beside a database: its journal, in either way of keeping one.
static const char *const ends[] = {"", "-journal", "-wal"};
#define ENDS (sizeof ends / sizeof *ends)
#define COPIED_AT_ONCE 65536

static char *joined(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(size);

    if (text) {
        (void)snprintf(text, size, "%s%s%s", a, b, c);
    }
    return text;
}

static bool has_content(const char *path, const char *end)
{
    char *name = joined(path, end, "");
    struct stat about;
    bool has = name && stat(name, &about) == 0 && about.st_size > 0;

    free(name);
    return has;
}

static bool copy_bytes(int from, int to)
{
    char bytes[COPIED_AT_ONCE];
    ssize_t got;

    while ((got = read(from, bytes, sizeof bytes)) > 0) {
        for (ssize_t at = 0; at < got;) {
            ssize_t put = write(to, bytes + at, (size_t)(got - at));

            if (put < 0) {
                return false;
            }
            at += put;
        }
    }
    return got == 0;
}

static bool copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool good = out >= 0 && copy_bytes(in, out);
    int error = errno;

    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0) {
        (void)close(out);
    }
    errno = error;
    return good;
}

static bool copy_all(const struct sqlite_file *file, const char *path)
{
    bool good = true;

    for (size_t i = 0; good && i < ENDS; i++) {
        char *from = joined(path, ends[i], "");
        char *to = joined(file->path, ends[i], "");

        good = from && to && (!has_content(path, ends[i]) || copy_file(from, to));
        free(from);
        free(to);
    }
    return good;
}

static bool make_copy(struct sqlite_file *file, const char *path, struct source_news *news)
{
    const char *temporary = getenv("TMPDIR");

    file->folder = joined(temporary ? temporary : "/tmp", "/tandem-import-", "XXXXXX");
    if (!file->folder || !mkdtemp(file->folder)) {
        (void)source_fail(news, "no folder for a copy can be made: %s", strerror(errno));
        free(file->folder);
        file->folder = NULL;
        return false;
    }
    file->path = joined(file->folder, "/", "queue");
    if (!file->path || !copy_all(file, path)) {
        (void)source_fail(news, "%.120s has a journal, and cannot be copied to %.60s: %s", path,
                          file->folder, strerror(errno));
        sqlite_file_forget(file);
        return false;
    }
    return true;
}

bool sqlite_file_find(struct sqlite_file *file, const char *path, struct source_news *news)
{
    *file = (struct sqlite_file){.path = NULL};
    if (has_content(path, "-journal") || has_content(path, "-wal")) {
        return make_copy(file, path, news);
    }
    file->path = joined(path, "", "");
    if (!file->path) {
        (void)source_fail(news, "out of memory");
    }
    return file->path != NULL;
}

void sqlite_file_forget(struct sqlite_file *file)
{
    static const char *const made[] = {"", "-journal", "-wal", "-shm"};

    for (size_t i = 0; file->folder && file->path && i < sizeof made / sizeof *made; i++) {
        char *name = joined(file->path, made[i], "");

        if (name) {
            (void)unlink(name);
            free(name);
        }
    }
    if (file->folder) {
        (void)rmdir(file->folder);
    }
    free(file->folder);
    free(file->path);
    *file = (struct sqlite_file){.path = NULL};
}

bool sqlite_file_is_used(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool used;

    if (fd < 0) {
        return false;
    }
    // The system cannot tell of files of others, and on some file systems not at all.
    used = fcntl(fd, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
    (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    (void)close(fd);
    return used;
}
