/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_IMPORT_KINDS_H
#define TANDEM_SERVER_CONFIG_IMPORT_KINDS_H

// The kinds of sources that `journal.import` may name (transfer/source.h).

#include "transfer/source.h"

#include <stdio.h>

// Ends with NULL.
extern const struct source_kind *const import_kinds[];

// Writes KIND:PLACE without the passwords that the place may hold.
void import_show(const char *text, FILE *file);

#endif
