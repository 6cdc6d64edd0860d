/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_CONNINFO_H
#define TANDEM_SERVER_CONFIG_CONNINFO_H

// How libpq is told of a database: `keyword = value` pairs, or a URI. It may hold passwords.

#include <stdio.h>

// Writes the text with SETTING_HIDDEN in the place of each password. Where it is not well-formed,
// what follows is hidden, too.
void conninfo_show(const char *text, FILE *file);

#endif
