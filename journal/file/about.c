/* SPDX-License-Identifier: MIT */
#include "journal/file/about.h"

#include "journal/layout.h"

#include <errno.h>

#define NEW_NAME "about.new"
#define ABOUT_MAGIC "TANDEMA\n" // without its NUL
#define ABOUT_VERSION 1

enum { AT_VERSION = 8, AT_SIZE = 12, AT_YOUNGEST = 16, AT_END = 24, AT_HOST = 32 };
enum { AT_SUM = AT_HOST + ABOUT_HOST_MAX, AT_ZERO = AT_SUM + 4, ABOUT_SIZE = AT_ZERO + 4 };

static uint32_t about_sum(const char *bytes)
{
    return ~sum_more(UINT32_MAX, bytes, AT_SUM);
}

static void put_about(char bytes[ABOUT_SIZE], const struct about *about)
{
    memset(bytes, 0, ABOUT_SIZE);
    memcpy(bytes, ABOUT_MAGIC, AT_VERSION);
    put32(bytes + AT_VERSION, ABOUT_VERSION);
    put32(bytes + AT_SIZE, ABOUT_SIZE);
    put64(bytes + AT_YOUNGEST, about->youngest);
    put64(bytes + AT_END, about->end);
    memcpy(bytes + AT_HOST, about->host, strnlen(about->host, ABOUT_HOST_MAX));
    put32(bytes + AT_SUM, about_sum(bytes));
}

static enum about_found read_about(const char bytes[ABOUT_SIZE], struct about *about)
{
    if (memcmp(bytes, ABOUT_MAGIC, AT_VERSION) != 0 || get32(bytes + AT_SUM) != about_sum(bytes) ||
        get32(bytes + AT_ZERO) != 0) {
        return ABOUT_BAD;
    }
    if (get32(bytes + AT_VERSION) != ABOUT_VERSION || get32(bytes + AT_SIZE) != ABOUT_SIZE) {
        return ABOUT_OTHER;
    }
    about->youngest = get64(bytes + AT_YOUNGEST);
    about->end = get64(bytes + AT_END);
    memcpy(about->host, bytes + AT_HOST, ABOUT_HOST_MAX);
    return ABOUT_GOOD;
}

// The first bytes of the file; zeros where it is too short.
static int read_bytes(const struct journal_io *io, int file, char bytes[ABOUT_SIZE])
{
    size_t at = 0;
    size_t got = 1;
    int error = 0;

    memset(bytes, 0, ABOUT_SIZE);
    while (at < ABOUT_SIZE && got > 0 && error == 0) {
        error = io->read(io->disk, file, bytes + at, ABOUT_SIZE - at, at, &got);
        at += got;
    }
    return error;
}

enum about_found about_load(struct about *about, const struct journal_io *io, int *error)
{
    char bytes[ABOUT_SIZE];
    int file;

    *about = (struct about){.youngest = 0};
    *error = io->open(io->disk, ABOUT_NAME, JOURNAL_OPEN_READ, &file);
    if (*error) {
        return *error == ENOENT ? ABOUT_NONE : ABOUT_FAILED;
    }
    *error = read_bytes(io, file, bytes);
    io->close(io->disk, file);
    return *error ? ABOUT_FAILED : read_about(bytes, about);
}

static int write_bytes(const struct journal_io *io, int file, char bytes[ABOUT_SIZE])
{
    size_t at = 0;

    while (at < ABOUT_SIZE) {
        struct iovec part = {.iov_base = bytes + at, .iov_len = ABOUT_SIZE - at};
        size_t put = 0;
        int error = io->write(io->disk, file, &part, 1, at, &put);

        if (error || put == 0) {
            return error ? error : EIO;
        }
        at += put;
    }
    return io->sync(io->disk, file);
}

int about_save(const struct about *about, const struct journal_io *io)
{
    char bytes[ABOUT_SIZE];
    int file;
    int error = io->open(io->disk, NEW_NAME, JOURNAL_OPEN_CREATE, &file);

    if (error) {
        return error;
    }
    put_about(bytes, about);
    error = write_bytes(io, file, bytes);
    io->close(io->disk, file);
    return error ? error : io->rename(io->disk, NEW_NAME, ABOUT_NAME);
}
