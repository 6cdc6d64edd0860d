/* SPDX-License-Identifier: MIT */
#include "server/process/pid_file.h"

#include "server/process/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void pid_file_fail(const char *path, const char *what, struct error_text *why)
{
    error_set(why, "pid_file %s: %s", path, what);
}

// Whether the path still leads to this file: its last owner may have removed it after we opened it.
static bool is_in_place(int fd, const struct safe_path *place)
{
    struct stat opened;
    struct stat named;

    return fstat(fd, &opened) == 0 &&
           fstatat(place->dir, place->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Opens and locks the file; -1 with the reason in `why`. An existing file keeps its mode, because
// the path may lead to any file by mistake.
static int pid_file_lock(const struct safe_path *place, const char *path, struct error_text *why)
{
    bool made;
    int fd = safe_path_open(place, O_RDWR | O_NONBLOCK, 0644, &made, why);
    struct stat st;

    if (fd < 0) {
        error_prefix(why, "pid_file %s: ", path);
        return -1;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        pid_file_fail(path, "not a regular file", why);
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            // The file has the PID of the process that holds the lock.
            char text[32] = "";
            ssize_t len = pread(fd, text, sizeof text - 1, 0);

            text[len > 0 ? strcspn(text, "\n") : 0] = '\0';
            error_set(why, "pid_file %s: another process holds it: %s", path,
                      text[0] ? text : "one that is just starting");
        } else {
            pid_file_fail(path, strerror(errno), why);
        }
    } else if ((made && fchmod(fd, 0644) != 0) || ftruncate(fd, 0) != 0) {
        pid_file_fail(path, strerror(errno), why);
    } else {
        return fd;
    }
    (void)close(fd);
    return -1;
}

bool pid_file_claim(struct pid_file *file, const char *path, struct error_text *why)
{
    struct safe_path place;
    int fd;

    *file = (struct pid_file){.path = NULL};
    if (!safe_path_find(&place, path, false, why)) {
        return error_prefix(why, "pid_file %s: ", path);
    }
    while ((fd = pid_file_lock(&place, path, why)) >= 0 && !is_in_place(fd, &place)) {
        (void)close(fd);
    }
    safe_path_close(&place);
    if (fd >= 0) {
        *file = (struct pid_file){.path = path, .fd = fd};
    }
    return fd >= 0;
}

bool pid_file_write(const struct pid_file *file, struct error_text *why)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    if (!file->path || pwrite(file->fd, text, (size_t)len, 0) == len) {
        return true;
    }
    pid_file_fail(file->path, strerror(errno), why);
    return false;
}

// Removes the file only if it is still ours: another process may have replaced it.
static bool pid_file_remove(const struct pid_file *file)
{
    struct error_text unsaid;
    struct safe_path place;
    bool good;

    if (!safe_path_find(&place, file->path, false, &unsaid)) {
        return false;
    }
    good = is_in_place(file->fd, &place) && unlinkat(place.dir, place.name, 0) == 0;
    safe_path_close(&place);
    return good;
}

void pid_file_release(struct pid_file *file)
{
    if (!file->path) {
        return;
    }
    if (!pid_file_remove(file)) {
        // If this fails, too, the file stays; its lock ends with the process.
        (void)!ftruncate(file->fd, 0);
    }
    (void)close(file->fd);
    *file = (struct pid_file){.path = NULL};
}
