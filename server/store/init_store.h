/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_INIT_STORE_H
#define TANDEM_SERVER_STORE_INIT_STORE_H

// `tandemd --init-store`: creates the journal of a shard in the database of the settings.

#include "core/base/macros.h"
#include "server/config/settings.h"
#include "server/process/daemon.h"
#include "core/base/error_text.h"

#include <stdio.h>

// Creates what is missing, and prints the SQL that grants the broker's role its rights. If that
// fails, the reason is in `why`.
enum exit_reason init_store(const struct store_settings *settings, FILE *output,
                            struct error_text *why) MUST_USE;

#endif
