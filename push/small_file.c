/* SPDX-License-Identifier: MIT */
#include "push/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(struct small_file *file, int fd, size_t most)
{
    ssize_t got = 1;

    file->bytes = malloc(most + 1);
    if (!file->bytes) {
        return false;
    }
    // A byte more than is allowed shows that it is too large, should it grow meanwhile.
    while (got != 0 && file->len <= most) {
        got = read(fd, file->bytes + file->len, most + 1 - file->len);
        if (got < 0 && errno != EINTR) {
            return false;
        }
        file->len += got > 0 ? (size_t)got : 0;
    }
    errno = EFBIG;
    return file->len <= most;
}

static bool read_file(struct small_file *file, const char *path, size_t most)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    bool good = false;
    int saved;

    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &about) == 0) {
        errno = EINVAL;
        good = S_ISREG(about.st_mode) && read_all(file, fd, most);
    }
    saved = errno;
    (void)close(fd);
    errno = saved;
    return good;
}

bool small_file_read(struct small_file *file, const char *key, const char *path, size_t most,
                     struct error_text *why)
{
    *file = (struct small_file){0};
    if (read_file(file, path, most)) {
        return true;
    }
    (void)error_set(why, "%s: %s: %s", key, path,
                    errno == EINVAL ? "not a regular file" : strerror(errno));
    small_file_free(file);
    return false;
}

void small_file_free(struct small_file *file)
{
    if (file->bytes) {
        OPENSSL_cleanse(file->bytes, file->len);
    }
    free(file->bytes);
    *file = (struct small_file){0};
}
