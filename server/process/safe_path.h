/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SAFE_PATH_H
#define TANDEM_SERVER_PROCESS_SAFE_PATH_H

// Opens files that the configuration names, as a directory and a name in it. The process may be
// root, and a directory of the path may belong to the user that it will become, or to any other
// user. A symbolic link there would let that user choose which of root's files we open. A link is
// therefore followed only in a directory in which only root and our user can create one.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct safe_path {
    int dir; // -1: not open
    char name[NAME_MAX + 1];
    bool is_magic; // a link that only the kernel can follow, such as /proc/self/fd/2
};

// Opens the directory. `follow`: also follow a trusted link at the end of the path. False with the
// reason in `why`; there is nothing to close then.
bool safe_path_find(struct safe_path *safe, const char *path, bool follow,
                    struct error_text *why) MUST_USE;

// Opens the file, but follows no link. If `made` is not NULL, a missing file is created with
// `mode`, and `*made` tells whether it was. As root, refuses a regular file with several names,
// because each name may be a way to any of root's files; and another user's file in a directory
// that all users can write to. -1 with the reason in `why`.
int safe_path_open(const struct safe_path *safe, int flags, mode_t mode, bool *made,
                   struct error_text *why) MUST_USE;

// Reads the file's status; st_mode is 0 if there is no file. False with the reason in `why` if
// safe_path_open() would refuse the file.
bool safe_path_stat(const struct safe_path *safe, struct stat *st, struct error_text *why) MUST_USE;

// A path that is not open is allowed.
void safe_path_close(struct safe_path *safe);

#endif
