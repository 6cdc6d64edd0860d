/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_DISK_BENCH_H
#define TANDEM_TESTS_JOURNAL_FILE_DISK_BENCH_H

// A disk under test, the real one in its own directory or the fake one, and helpers for both. Any
// unexpected result fails the test.

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
// Writes all of it, in several calls if necessary.
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
