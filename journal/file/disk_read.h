/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_DISK_READ_H
#define TANDEM_JOURNAL_FILE_DISK_READ_H

// A directory that is only looked at: what would change it is said to be done, and is not. Nobody
// else may use the journal in it meanwhile, so it is claimed all the same.

#include "core/base/macros.h"
#include "journal/file/io.h"

// The directory must be there. 0 or an errno value; `io` can be used until disk_read_close().
int disk_read_open(struct journal_io *io, const char *path) MUST_USE;

// A zeroed `io` is allowed.
void disk_read_close(struct journal_io *io);

#endif
