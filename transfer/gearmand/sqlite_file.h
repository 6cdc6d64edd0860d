/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_SQLITE_FILE_H
#define TANDEM_TRANSFER_GEARMAND_SQLITE_FILE_H

// The file of a database that is to be read and not to be changed. One whose writer was killed has
// a journal beside it, by which the file has to be mended before it can be read: that is done on a
// copy, in a folder of its own.

#include "transfer/source.h"

#include <stdbool.h>

struct sqlite_file {
    char *path;   // what to open; owned
    char *folder; // owned: of the copy; NULL: it is the file itself
};

// False with the reason.
bool sqlite_file_find(struct sqlite_file *file, const char *path, struct source_news *news);
// Frees it, and removes the copy.
void sqlite_file_forget(struct sqlite_file *file);

// Whether a process has the file open to write to it, as far as the system tells.
bool sqlite_file_is_used(const char *path);

#endif
