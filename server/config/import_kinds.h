/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_IMPORT_KINDS_H
#define TANDEM_SERVER_CONFIG_IMPORT_KINDS_H

// The kinds of sources that `journal.import` may name (import/source.h).

#include "import/source.h"

// Ends with NULL.
extern const struct source_kind *const import_kinds[];

#endif
