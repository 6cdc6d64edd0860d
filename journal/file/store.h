/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_STORE_H
#define TANDEM_JOURNAL_FILE_STORE_H

// A journal that is kept in files.

#include "core/base/macros.h"
#include "journal/file/io.h"

struct storage;

// For journal_new(), which takes it over. NULL without memory. `io` must outlive it.
struct storage *journal_files_new(const struct journal_io *io) MUST_USE;

#endif
