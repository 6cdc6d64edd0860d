/* SPDX-License-Identifier: MIT */
#include "journal/file/manifest.h"

#include "journal/codec_layout.h"

#include <errno.h>

#define MANIFEST_NEW_NAME "about.new"
#define MANIFEST_MAGIC "TANDEMA\n" // without its NUL
#define MANIFEST_VERSION 1

enum { AT_VERSION = 8, AT_SIZE = 12, AT_YOUNGEST = 16, AT_END = 24, AT_HOST = 32 };
enum { AT_SUM = AT_HOST + MANIFEST_HOST_MAX, AT_ZERO = AT_SUM + 4, MANIFEST_SIZE = AT_ZERO + 4 };

static uint32_t manifest_sum(const char *bytes)
{
    return ~sum_more(UINT32_MAX, bytes, AT_SUM);
}

static void manifest_put(char bytes[MANIFEST_SIZE], const struct manifest *manifest)
{
    memset(bytes, 0, MANIFEST_SIZE);
    memcpy(bytes, MANIFEST_MAGIC, AT_VERSION);
    put32(bytes + AT_VERSION, MANIFEST_VERSION);
    put32(bytes + AT_SIZE, MANIFEST_SIZE);
    put64(bytes + AT_YOUNGEST, manifest->youngest);
    put64(bytes + AT_END, manifest->end);
    memcpy(bytes + AT_HOST, manifest->host, strnlen(manifest->host, MANIFEST_HOST_MAX));
    put32(bytes + AT_SUM, manifest_sum(bytes));
}

static enum manifest_found manifest_read(const char bytes[MANIFEST_SIZE], struct manifest *manifest)
{
    if (memcmp(bytes, MANIFEST_MAGIC, AT_VERSION) != 0 ||
        get32(bytes + AT_SUM) != manifest_sum(bytes) || get32(bytes + AT_ZERO) != 0) {
        return MANIFEST_BAD;
    }
    if (get32(bytes + AT_VERSION) != MANIFEST_VERSION || get32(bytes + AT_SIZE) != MANIFEST_SIZE) {
        return MANIFEST_OTHER;
    }
    manifest->youngest = get64(bytes + AT_YOUNGEST);
    manifest->end = get64(bytes + AT_END);
    memcpy(manifest->host, bytes + AT_HOST, MANIFEST_HOST_MAX);
    return MANIFEST_GOOD;
}

// Reads the first bytes of the file; zeros if it is too short.
static int manifest_read_bytes(const struct journal_io *io, int file, char bytes[MANIFEST_SIZE])
{
    size_t at = 0;
    size_t got = 1;
    int error = 0;

    memset(bytes, 0, MANIFEST_SIZE);
    while (at < MANIFEST_SIZE && got > 0 && error == 0) {
        error = io->read(io->disk, file, bytes + at, MANIFEST_SIZE - at, at, &got);
        at += got;
    }
    return error;
}

enum manifest_found manifest_load(struct manifest *manifest, const struct journal_io *io,
                                  int *error)
{
    char bytes[MANIFEST_SIZE];
    int file;

    *manifest = (struct manifest){.youngest = 0};
    *error = io->open(io->disk, MANIFEST_NAME, JOURNAL_OPEN_READ, &file);
    if (*error) {
        return *error == ENOENT ? MANIFEST_NONE : MANIFEST_FAILED;
    }
    *error = manifest_read_bytes(io, file, bytes);
    io->close(io->disk, file);
    return *error ? MANIFEST_FAILED : manifest_read(bytes, manifest);
}

static int manifest_write_bytes(const struct journal_io *io, int file, char bytes[MANIFEST_SIZE])
{
    size_t at = 0;

    while (at < MANIFEST_SIZE) {
        struct iovec part = {.iov_base = bytes + at, .iov_len = MANIFEST_SIZE - at};
        size_t put = 0;
        int error = io->write(io->disk, file, &part, 1, at, &put);

        if (error || put == 0) {
            return error ? error : EIO;
        }
        at += put;
    }
    return io->sync(io->disk, file);
}

int manifest_save(const struct manifest *manifest, const struct journal_io *io)
{
    char bytes[MANIFEST_SIZE];
    int file;
    int error = io->open(io->disk, MANIFEST_NEW_NAME, JOURNAL_OPEN_CREATE, &file);

    if (error) {
        return error;
    }
    manifest_put(bytes, manifest);
    error = manifest_write_bytes(io, file, bytes);
    io->close(io->disk, file);
    return error ? error : io->rename(io->disk, MANIFEST_NEW_NAME, MANIFEST_NAME);
}
