/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_PREFLIGHT_H
#define TANDEM_SERVER_CONFIG_PREFLIGHT_H

// What --check-config looks at beyond the settings themselves: whether a start would find the user
// and the directories that they name, and could take the files that are there. It makes and changes
// nothing. What it may not look into, such as a directory in another user's, counts as good.

#include "server/config/settings.h"

#include <stdbool.h>

// `must_exist`: the directory of the journal would not be made. False with the reason in `why`.
bool preflight(const struct settings *settings, bool must_exist, struct error_text *why) MUST_USE;

#endif
