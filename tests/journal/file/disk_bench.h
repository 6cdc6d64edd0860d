/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_DISK_BENCH_H
#define TANDEM_TESTS_JOURNAL_FILE_DISK_BENCH_H

// A disk to be tried out, the real one in a directory of its own or the fake one, and what tests of
// both do with its files. Whatever is not expected fails the test.

#include "journal/file/disk.h"
#include "tests/journal/file/fake_disk.h"

struct disk_bench {
    struct journal_io io;
    struct fake_disk *fake; // NULL: the real one
    char dir[64];
    char path[80]; // of the journal's directory, in `dir`
};

extern struct disk_bench bench;

// For cmocka.
int disk_bench_real(void **state);
int disk_bench_end_real(void **state);
int disk_bench_fake(void **state);
int disk_bench_end_fake(void **state);

int disk_opened(const char *name, enum journal_open how);
// Writes it all, which a disk may do in several goes.
void disk_put(int file, const char *bytes, size_t len, uint64_t offset);
void disk_expect_bytes(int file, const char *bytes, size_t len, uint64_t offset);
void disk_expect_size(int file, uint64_t expected);
void disk_shut(int file);

#define DISK_TEST(f, kind)                                                                         \
    {                                                                                              \
#f " on the " #kind " disk", f, disk_bench_##kind, disk_bench_end_##kind, NULL             \
    }
#define REAL(f) DISK_TEST(f, real)
#define FAKE(f) DISK_TEST(f, fake)

#endif
