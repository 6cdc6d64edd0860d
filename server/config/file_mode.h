/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_FILE_MODE_H
#define TANDEM_SERVER_CONFIG_FILE_MODE_H

// Who may use a file, in octal digits as for chmod.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <sys/types.h>

// Digits for 0 to 0777. False with the reason in `why`.
bool file_mode_parse(const char *text, mode_t *mode, struct error_text *why) MUST_USE;

#endif
