/* SPDX-License-Identifier: MIT */
#include "server/importing_sync.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Files that cannot be files of the journal are skipped: the journal opens only regular files that
// it may read and write. A file that was deleted meanwhile is not a failure.
static int sync_file(int directory, const char *name)
{
    struct stat about;
    int error = 0;
    int fd;

    if (fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    if (!S_ISREG(about.st_mode) && strcmp(name, ".") != 0) {
        return 0;
    }
    fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT || errno == EACCES ? 0 : errno;
    }
    if (fsync(fd) != 0) {
        error = errno;
    }
    (void)close(fd);
    return error;
}

bool importing_sync(const char *dir, struct error_text *why)
{
    DIR *listing = opendir(dir);
    const struct dirent *entry;
    int error = listing ? 0 : errno;

    while (listing && !error && (entry = readdir(listing))) {
        const char *name = entry->d_name;

        // The lock file is empty, and closing a descriptor of it could release the lock.
        if (strcmp(name, "lock") != 0 && strcmp(name, "..") != 0) {
            error = sync_file(dirfd(listing), name);
        }
    }
    if (listing) {
        (void)closedir(listing);
    }
    if (error) {
        error_set(why, "journal %s: cannot sync it: %s", dir, strerror(error));
    }
    return !error;
}
