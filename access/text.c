/* SPDX-License-Identifier: MIT */
#include "access/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Up to one byte more than a file may have.
static const char *read_all(int fd, struct text *text)
{
    ssize_t got = 1;

    while (got > 0 && text->len <= TEXT_MOST) {
        do {
            got = read(fd, text->bytes + text->len, TEXT_MOST + 1 - text->len);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            return strerror(errno);
        }
        text->len += (size_t)got;
    }
    return text->len > TEXT_MOST ? "the file is longer than 1 MiB" : NULL;
}

static const char *read_file(int fd, struct text *text)
{
    struct stat facts;
    const char *wrong;

    if (fstat(fd, &facts) < 0) {
        return strerror(errno);
    }
    if (!S_ISREG(facts.st_mode)) {
        return S_ISDIR(facts.st_mode) ? strerror(EISDIR) : "not a regular file";
    }
    // Pages that nothing is read to cost nothing.
    *text = (struct text){.bytes = malloc(TEXT_MOST + 1)};
    if (!text->bytes) {
        return "out of memory";
    }
    wrong = read_all(fd, text);
    if (wrong) {
        free(text->bytes);
    }
    return wrong;
}

const char *text_read(const char *path, struct text *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *wrong;

    if (fd < 0) {
        return strerror(errno);
    }
    wrong = read_file(fd, text);
    (void)close(fd);
    return wrong;
}
