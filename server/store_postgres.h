/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_POSTGRES_H
#define TANDEM_SERVER_STORE_POSTGRES_H

// The journal in rows of a PostgreSQL database, as a store that several processes share.

#include "server/config/settings.h"
#include "server/store.h"

// `settings` and `host` must outlive it. NULL with the reason in `why`.
struct store *store_postgres_make(const struct store_settings *settings,
                                  const struct store_options *options, const char *host,
                                  struct error_text *why) MUST_USE;

#endif
