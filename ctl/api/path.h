/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_PATH_H
#define TANDEM_CTL_API_PATH_H

// Paths of the API, with names in them percent-encoded, and queries behind them.

#include "ctl/print/text.h"

#include <stdint.h>

// Adds a slash and the name, any bytes.
void path_add_name(struct text *path, const char *name);

// Adds a parameter; nothing where the value is NULL.
void path_add_text(struct text *path, const char *key, const char *value);
void path_add_number(struct text *path, const char *key, uint64_t number);

#endif
