/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_OS_SMALL_FILE_H
#define TANDEM_OS_SMALL_FILE_H

// Small files, such as rules, certificates and secrets, read as a whole into memory. The caller
// limits the size.
//
// Functions return 0 or an error of errno.h: EFBIG if the file is longer than the limit, EISDIR for
// a directory and EINVAL for another file that is not a regular one. After an error there is
// nothing to free.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stddef.h>

struct small_file {
    char *bytes; // a NUL follows
    size_t len;
};

// Reads the regular file at the path. Does not block if another kind of file is there.
int small_file_read(struct small_file *file, const char *path, size_t most) MUST_USE;

// The same for a file of any kind, which may block.
int small_file_read_any(struct small_file *file, const char *path, size_t most) MUST_USE;

// Reads the rest of an open file, which stays open.
int small_file_read_fd(struct small_file *file, int fd, size_t most) MUST_USE;

// The text of an error of these functions, for people.
const char *small_file_error(int error);

static inline struct slice small_file_text(const struct small_file *file)
{
    return slice_of(file->bytes, file->len);
}

// Clears the bytes, which may be secret, and frees them. A zeroed file is allowed.
void small_file_free(struct small_file *file);

#endif
