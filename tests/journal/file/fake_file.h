/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FAKE_FILE_H
#define TANDEM_TESTS_JOURNAL_FILE_FAKE_FILE_H

// A file of the fake disk (fake_disk.h): two images of its bytes, the one that is read, and the one
// that survives a power cut. They differ in the sectors that were written to and not synced, and
// perhaps in their size. Beyond the size both are zero.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_FILE_MAX ((size_t)64 * 1024 * 1024)
#define FAKE_SECTOR 512

// Which unsynced bytes survive a power cut.
enum fake_keep { FAKE_KEEP_NONE, FAKE_KEEP_ALL, FAKE_KEEP_SOME };

struct fake_file {
    char *written; // NULL: there is no such file
    char *safe;
    bool *dirty; // by sector
    size_t high; // nothing but zeros from here on, in both images
    size_t size;
    size_t safe_size;
    size_t allocated;   // bytes that count as allocated
    uint64_t broken_at; // reading this byte fails; UINT64_MAX: none
    int opened;         // how often
};

void fake_file_init(struct fake_file *file);
void fake_file_clear(struct fake_file *file);
void fake_file_copy(struct fake_file *to, const struct fake_file *from);

void fake_file_write(struct fake_file *file, size_t offset, const char *bytes, size_t len);
void fake_file_resize(struct fake_file *file, size_t size);

// All of it is safe.
void fake_file_sync(struct fake_file *file);
// A sync failed: the written bytes count as clean from now on, and are not written.
void fake_file_forget(struct fake_file *file);
// The power is cut. `*dice` is the state of a generator, not 0.
void fake_file_cut(struct fake_file *file, enum fake_keep keep, uint64_t *dice);

uint64_t fake_dice(uint64_t *dice);

#endif
