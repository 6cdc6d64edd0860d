/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SMALL_FILE_H
#define TANDEM_PUSH_SMALL_FILE_H

// A small file that a setting names, read whole. Nothing waits for it: only a regular file is read.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stddef.h>

struct small_file {
    char *bytes;
    size_t len;
};

// Reads at most `most` bytes of it. False with the reason, which names the key; nothing is to be
// freed then.
bool small_file_read(struct small_file *file, const char *key, const char *path, size_t most,
                     struct error_text *why) MUST_USE;

static inline struct slice small_file_text(const struct small_file *file)
{
    return slice_of(file->bytes, file->len);
}

// Wipes and frees what was read.
void small_file_free(struct small_file *file);

#endif
