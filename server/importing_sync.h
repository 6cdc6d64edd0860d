/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_SYNC_H
#define TANDEM_SERVER_IMPORTING_SYNC_H

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// Syncs every file of the directory, whatever journal.fsync says, and waits for that: what was in
// another store must be safe in this one before anybody works on it. False with the reason.
bool importing_sync(const char *dir, struct error_text *why) MUST_USE;

#endif
