/* SPDX-License-Identifier: MIT */
#include "os/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int small_file_read_fd(struct small_file *file, int fd, size_t most)
{
    ssize_t got = 1;
    int error = 0;

    // Untouched pages use no memory. One byte more than the limit is read, to find a longer file.
    *file = (struct small_file){.bytes = malloc(most + 1)};
    if (!file->bytes) {
        return ENOMEM;
    }
    while (got != 0 && error == 0) {
        got = read(fd, file->bytes + file->len, most + 1 - file->len);
        if (got < 0 && errno != EINTR) {
            error = errno;
        }
        file->len += got > 0 ? (size_t)got : 0;
        if (file->len > most) {
            error = EFBIG;
        }
    }
    if (error) {
        small_file_free(file);
        return error;
    }
    file->bytes[file->len] = '\0';
    return 0;
}

static int small_file_read_opened(struct small_file *file, int fd, bool only_regular, size_t most)
{
    struct stat st;
    int error = 0;

    *file = (struct small_file){0};
    if (fd < 0) {
        return errno;
    }
    if (only_regular) {
        if (fstat(fd, &st) != 0) {
            error = errno;
        } else if (!S_ISREG(st.st_mode)) {
            error = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        }
    }
    if (!error) {
        error = small_file_read_fd(file, fd, most);
    }
    (void)close(fd);
    return error;
}

int small_file_read(struct small_file *file, const char *path, size_t most)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    return small_file_read_opened(file, fd, true, most);
}

int small_file_read_any(struct small_file *file, const char *path, size_t most)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    return small_file_read_opened(file, fd, false, most);
}

const char *small_file_error(int error)
{
    switch (error) {
    case EINVAL:
        return "not a regular file";
    case ENOMEM:
        return "out of memory";
    default:
        return strerror(error);
    }
}

void small_file_free(struct small_file *file)
{
    if (file->bytes) {
        explicit_bzero(file->bytes, file->len);
        free(file->bytes);
    }
    *file = (struct small_file){0};
}
