/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_DIRECTORY_H
#define TANDEM_JOURNAL_FILE_DIRECTORY_H

// The directory of a journal: opened, and made where it is missing in one that is there.

#include "core/base/macros.h"

// 0 or an errno value; the descriptor is the caller's to close.
int directory_open(const char *path, int *directory) MUST_USE;

// Names that came, went or changed in it have done so for good. 0 or an errno value.
int directory_sync(int directory) MUST_USE;

#endif
