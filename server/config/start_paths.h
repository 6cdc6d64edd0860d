/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_START_PATHS_H
#define TANDEM_SERVER_CONFIG_START_PATHS_H

// The checks of --check-config beyond the settings themselves: whether the user and the directories
// in the settings exist, and whether their files are of the right kind. Nothing is created or
// changed. Paths that the process may not read count as good.

#include "server/config/settings.h"

#include <stdbool.h>

// `must_exist`: the directory of the journal would not be created. False with the reason in `why`.
bool check_start_paths(const struct settings *settings, bool must_exist,
                       struct error_text *why) MUST_USE;

#endif
