/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_DEFAULT_CONFIG_H
#define TANDEM_SERVER_CONFIG_DEFAULT_CONFIG_H

// Where the configuration file is that belongs to a program, by the rule that `cmake --install`
// follows (cmake/install_conf.cmake.in): below /etc for /usr/bin, below PREFIX/etc for PREFIX/bin,
// and below /etc/opt/NAME for /opt/NAME/bin. A program elsewhere, such as where it was built, has
// the one of /usr/bin.

#include "core/base/macros.h"

#include <limits.h>
#include <stdbool.h>

#define DEFAULT_CONFIG "/etc/tandem/tandemd.conf"

// The path for the program at that absolute path. False where it would be too long.
bool default_config_of(const char *program, char path[PATH_MAX]) MUST_USE;

// The one of the program that runs.
void default_config(char path[PATH_MAX]);

#endif
