/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_FSYNC_H
#define TANDEM_SERVER_CONFIG_FSYNC_H

// How long what was written to the journal may wait until it is synced, as an operator says it:
// `always`, `never` or a number of milliseconds.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// A day.
#define FSYNC_MOST_MS 86400000

// 0 for `always` and for 0 ms, NSEC_NEVER for `never`. False with the reason in `why`.
bool fsync_parse(const char *text, nsec_t *every_for, struct error_text *why) MUST_USE;

#endif
