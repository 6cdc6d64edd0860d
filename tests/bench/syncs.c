/* SPDX-License-Identifier: MIT */

// How often a disk can make the next few bytes of a file last: the bound of what any journal can
// acknowledge that syncs before it answers. Each time, bytes are written behind the last ones of a
// file whose space is set aside, and synced.

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES ((off_t)64 << 20)
#define WRITE_MAX ((size_t)1 << 20)

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double parse_number(const char *text, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value <= most))
        errx(2, "%s: not a number above 0 and up to %.0f", text, most);
    return value;
}

// A file with its space set aside, and nothing in it.
static int make_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        err(1, "%s", path);
    errno = posix_fallocate(file, 0, FILE_BYTES);
    if (errno || fsync(file) < 0)
        err(1, "%s", path);
    return file;
}

// Fills the file, but ends when `*left_for` is used up. Returns how often it synced.
static uint64_t fill(int file, const char *bytes, size_t len, double *left_for)
{
    uint64_t count = 0;
    double begin = seconds_now();
    double now = begin;
    for (off_t at = 0; at + (off_t)len <= FILE_BYTES && now - begin < *left_for; at += (off_t)len) {
        if (pwrite(file, bytes, len, at) != (ssize_t)len || fdatasync(file) < 0)
            err(1, "cannot write");
        count++;
        now = seconds_now();
    }
    *left_for -= now - begin;
    return count;
}

int main(int argc, char **argv)
{
    static char bytes[WRITE_MAX];
    if (argc != 4)
        errx(2, "usage: tandem_syncs FILE BYTES SECONDS");
    size_t len = (size_t)parse_number(argv[2], (double)WRITE_MAX);
    double seconds = parse_number(argv[3], 3600);
    double left_for = seconds;
    uint64_t count = 0;
    memset(bytes, 'x', sizeof bytes);
    while (left_for > 0) {
        int file = make_file(argv[1]);
        count += fill(file, bytes, len, &left_for);
        close(file);
    }
    unlink(argv[1]);
    printf("bytes=%zu rate=%.1f\n", len, (double)count / (seconds - left_for));
    return 0;
}
