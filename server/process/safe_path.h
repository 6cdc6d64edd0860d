/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SAFE_PATH_H
#define TANDEM_SERVER_PROCESS_SAFE_PATH_H

// Where a file that the configuration names is: its directory, and its name there. We may be root,
// and a directory on the way may belong to the user that we are about to become, or to anybody. A
// symbolic link there would let that user choose which of root's files we open, so that a link
// counts only where nobody but root and ourselves can put one.

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

// Walks to the directory. `follow`: whether a link at the end of the path is followed, too, if it
// counts. False with the reason in `why`; there is nothing to close then.
bool safe_path_find(struct safe_path *safe, const char *path, bool follow,
                    struct error_text *why) MUST_USE;

// Opens what has that name, and nothing that a link there leads to; made with `mode` where there
// is nothing, which `*made` tells (NULL: it is not made). Where we are root, what is there has one
// name, since a second one might be a way to any of root's files, and in a directory that all can
// write to it is not another user's. -1 with the reason in `why`.
int safe_path_open(const struct safe_path *safe, int flags, mode_t mode, bool *made,
                   struct error_text *why) MUST_USE;

// What a start would find there, with a mode of 0 where there is nothing. False with the
// reason in `why` where safe_path_open() would take nothing there.
bool safe_path_stat(const struct safe_path *safe, struct stat *st, struct error_text *why) MUST_USE;

// One that is not open is allowed.
void safe_path_close(struct safe_path *safe);

#endif
