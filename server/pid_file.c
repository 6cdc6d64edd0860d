/* SPDX-License-Identifier: MIT */
#include "server/pid_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void pid_file_fail(const char *path, const char *what, struct complaint *why)
{
    complaint_set(why, "pid_file %s: %s", path, what);
}

// Who holds the lock, as far as the file says.
static void pid_file_held(int fd, const char *path, struct complaint *why)
{
    char text[32] = "";
    ssize_t len = pread(fd, text, sizeof text - 1, 0);

    text[len > 0 ? strcspn(text, "\n") : 0] = '\0';
    complaint_set(why, "pid_file %s: another process holds it: %s", path,
                  text[0] ? text : "one that is just starting");
}

// Whether the path still leads to the file: its last holder may have removed it since we opened it.
static bool is_in_place(int fd, const char *path)
{
    struct stat opened;
    struct stat named;

    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

// Opens and locks what is at the path now; -1 with the reason in `why`.
static int pid_file_lock(const char *path, struct complaint *why)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    struct stat st;

    if (fd < 0) {
        pid_file_fail(path, strerror(errno), why);
        return -1;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        pid_file_fail(path, "there is something else than a file", why);
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            pid_file_held(fd, path, why);
        } else {
            pid_file_fail(path, strerror(errno), why);
        }
    } else if (fchmod(fd, 0644) != 0 || ftruncate(fd, 0) != 0) {
        pid_file_fail(path, strerror(errno), why);
    } else {
        return fd;
    }
    (void)close(fd);
    return -1;
}

bool pid_file_claim(struct pid_file *file, const char *path, struct complaint *why)
{
    *file = (struct pid_file){.path = NULL};
    for (;;) {
        int fd = pid_file_lock(path, why);

        if (fd < 0) {
            return false;
        }
        if (is_in_place(fd, path)) {
            *file = (struct pid_file){.path = path, .fd = fd};
            return true;
        }
        (void)close(fd);
    }
}

bool pid_file_write(const struct pid_file *file, struct complaint *why)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    if (!file->path || pwrite(file->fd, text, (size_t)len, 0) == len) {
        return true;
    }
    pid_file_fail(file->path, strerror(errno), why);
    return false;
}

void pid_file_release(struct pid_file *file)
{
    if (!file->path) {
        return;
    }
    if (unlink(file->path) != 0) {
        // Nothing is left to be done where this fails, too: the lock goes with us.
        int ignored = ftruncate(file->fd, 0);

        (void)ignored;
    }
    (void)close(file->fd);
    *file = (struct pid_file){.path = NULL};
}
