/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_CREDENTIAL_H
#define TANDEM_SERVER_CONFIG_CREDENTIAL_H

// Files that the service manager hands over (systemd's LoadCredential=): they are in a directory of
// its own, which only this process may read, and which it names in $CREDENTIALS_DIRECTORY. In a
// setting, `credential:NAME` stands for the one of that name, or for what is in it.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <limits.h>
#include <stdbool.h>

// Whether the text is such a name.
bool credential_is_named(const char *text);

// The path of the file that it stands for. False with the reason in `why`: no credentials were
// handed over, or there can be none of that name. Whether the file is there is not looked at.
bool credential_path(const char *text, char path[PATH_MAX], struct error_text *why) MUST_USE;

// What is in that file: one line, without its end. False with the reason in `why`, which says
// nothing of the line.
#define CREDENTIAL_ROOM 4096
bool credential_read(const char *text, char line[CREDENTIAL_ROOM], struct error_text *why) MUST_USE;

#endif
