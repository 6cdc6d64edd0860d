/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_SYNC_H
#define TANDEM_SERVER_IMPORTING_SYNC_H

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// Syncs the directory and its regular files, for any journal.fsync, and blocks: imported jobs must
// be on disk before a client can get them. False with the reason.
bool importing_sync(const char *dir, struct error_text *why) MUST_USE;

#endif
