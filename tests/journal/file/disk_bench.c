/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/disk_bench.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct disk_bench bench;

int disk_bench_real(void **state)
{
    bench = (struct disk_bench){.dir = "/tmp/tandem-disk-XXXXXX"};
    assert_non_null(mkdtemp(bench.dir));
    (void)snprintf(bench.path, sizeof bench.path, "%s/journal", bench.dir);
    assert_int_equal(journal_disk_open(&bench.io, bench.path), 0);
    *state = &bench;
    return 0;
}

static void remove_name(void *context, const char *name)
{
    const struct journal_io *io = context;

    (void)io->remove(io->disk, name);
}

int disk_bench_end_real(void **state)
{
    (void)state;
    if (bench.io.disk) {
        (void)bench.io.list(bench.io.disk, remove_name, &bench.io);
    }
    journal_disk_close(&bench.io);
    (void)rmdir(bench.path);
    return rmdir(bench.dir);
}

int disk_bench_fake(void **state)
{
    bench = (struct disk_bench){.fake = fake_disk_new()};
    bench.io = fake_disk_io(bench.fake);
    *state = &bench;
    return 0;
}

int disk_bench_end_fake(void **state)
{
    (void)state;
    fake_disk_free(bench.fake);
    return 0;
}

int disk_opened(const char *name, enum journal_open how)
{
    int file = -1;

    assert_int_equal(bench.io.open(bench.io.disk, name, how, &file), 0);
    assert_true(file >= 0);
    return file;
}

void disk_put(int file, const char *bytes, size_t len, uint64_t offset)
{
    while (len > 0) {
        struct iovec parts[2] = {
            {.iov_base = (char *)(uintptr_t)bytes, .iov_len = len / 2},
            {.iov_base = (char *)(uintptr_t)bytes + len / 2, .iov_len = len - len / 2}};
        size_t done = 0;

        assert_int_equal(bench.io.write(bench.io.disk, file, parts, 2, offset, &done), 0);
        assert_true(done > 0 && done <= len);
        bytes += done;
        len -= done;
        offset += done;
    }
}

void disk_expect_bytes(int file, const char *bytes, size_t len, uint64_t offset)
{
    char found[256];
    size_t got = 0;

    assert_true(len <= sizeof found);
    assert_int_equal(bench.io.read(bench.io.disk, file, found, len, offset, &got), 0);
    assert_int_equal(got, len);
    assert_memory_equal(found, bytes, len);
}

void disk_expect_size(int file, uint64_t expected)
{
    uint64_t size = 0;

    assert_int_equal(bench.io.size(bench.io.disk, file, &size), 0);
    assert_int_equal(size, expected);
}

void disk_shut(int file)
{
    bench.io.close(bench.io.disk, file);
}
