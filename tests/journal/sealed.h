/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_SEALED_H
#define TANDEM_TESTS_JOURNAL_FILE_SEALED_H

// Single records as bytes, with their checksums, for tests of the codec.

#include "core/broker.h"
#include "journal/codec.h"
#include "tests/support/with_cmocka.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SALT UINT64_C(0x0123456789abcdef)
#define OFFSET 4096

// A sealed record of any kind.
struct sealed {
    char bytes[4096];
    size_t size;
};

// Fills in the size and the checksums of the record.
void sealed_finish(struct sealed *sealed);
void sealed_job(struct sealed *sealed, const struct job_image *image);
// Makes a change or a move of less than 256 bytes what older versions wrote: without counters.
void sealed_without_counters(struct sealed *sealed);
void sealed_change(struct sealed *sealed, enum codec_type type, struct job_change change);

// The result refers to a copy, which is valid until the next call. The copy ends where its memory
// ends, so that a read beyond the record is noticed.
bool sealed_read_at(const struct sealed *sealed, uint64_t salt, uint64_t offset,
                    struct codec_record *record);
// Whether it is read with SALT at OFFSET.
bool sealed_read(const struct sealed *sealed);

void flip_bit(char *bytes, size_t bit);

// A job whose attributes all differ from another's, and a change.
struct job_image full_image(void);
// With a dead letter, and without one.
extern const struct dead_letter some_past, no_past;
struct job_change change_to(enum job_state state);

#endif
