/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_JOURNAL_SETTINGS_H
#define TANDEM_SERVER_CONFIG_JOURNAL_SETTINGS_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "proto_common/option.h"
#include "transfer/source.h"

#include <stdbool.h>
#include <stdio.h>

// The section [journal], and the texts of its values. If a function with `why` returns false, the
// reason is in `why`.

// The longest interval between syncs in milliseconds: a day.
#define FSYNC_MOST_MS 86400000

// Parses the interval between syncs: 0 for `always` and for 0 ms, NSEC_NEVER for `never`.
bool fsync_parse(const char *text, nsec_t *every_for, struct error_text *why) MUST_USE;

// Writes a connection string of libpq (`keyword = value` pairs, or a URI) with SETTING_HIDDEN
// instead of each password. The rest of a malformed string is hidden, too.
void conninfo_show(const char *text, FILE *file);

// The kinds of sources for `journal.import` (transfer/source.h). Ends with NULL.
extern const struct source_kind *const import_kinds[];

// Writes KIND:PLACE without the passwords in the place.
void import_show(const char *text, FILE *file);

// The keys of struct store_settings (settings.h). Ends with a NULL name.
extern const struct option journal_options[];

// Checks a value before it is set.
bool journal_options_check(const struct option *option, const char *text, struct error_text *why);

struct store_settings;

// Checks the values together.
bool journal_settings_check(const struct store_settings *settings, struct error_text *why) MUST_USE;

#endif
