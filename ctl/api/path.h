/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_PATH_H
#define TANDEM_CTL_API_PATH_H

// Builds paths of the API with percent-encoded names and queries.

#include "ctl/print/text.h"

#include <stdint.h>

// Adds a slash and the name, which may contain any bytes.
void path_add_name(struct text *path, const char *name);

// Adds a query parameter; nothing if the value is NULL.
void path_add_text(struct text *path, const char *key, const char *value);
void path_add_number(struct text *path, const char *key, uint64_t number);

#endif
