/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_INIT_STORE_H
#define TANDEM_SERVER_INIT_STORE_H

// `tandemd --init-store`: has the database of the settings keep the journal of their shard.

#include "core/base/macros.h"
#include "server/config/settings.h"
#include "server/process/exit_reason.h"
#include "core/base/error_text.h"

#include <stdio.h>

// Makes what is not there yet, and prints what the broker's role is to be granted, as SQL. Where
// that fails, the reason is in `why`.
enum exit_reason init_store(const struct store_settings *settings, FILE *output,
                            struct error_text *why) MUST_USE;

#endif
