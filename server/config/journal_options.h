/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_JOURNAL_OPTIONS_H
#define TANDEM_SERVER_CONFIG_JOURNAL_OPTIONS_H

// The section [journal]: what describes struct store_settings (settings.h).

#include "core/base/macros.h"
#include "proto_common/option.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// Ends with a NULL name.
extern const struct option journal_options[];

// Whether the value, which is of the option's kind, makes sense. Otherwise the reason in `why`.
bool journal_options_check(const struct option *option, const char *text, struct error_text *why);

struct store_settings;

// Whether the values make sense together. Otherwise the reason in `why`.
bool journal_settings_check(const struct store_settings *settings, struct error_text *why) MUST_USE;

#endif
