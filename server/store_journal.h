/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_JOURNAL_H
#define TANDEM_SERVER_STORE_JOURNAL_H

// The journal as a store: a directory, the thread that writes to it, and what wakes the loop when
// that thread is done. It is the journal's thread that opens it, too.

#include "server/config/settings.h"
#include "server/store.h"

// `settings` and `host` must outlive it. NULL with the reason in `why`.
struct store *store_journal_make(const struct store_settings *settings,
                                 const struct store_options *options, const char *host,
                                 struct reason *why) MUST_USE;

#endif
