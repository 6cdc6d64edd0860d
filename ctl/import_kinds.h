/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_KINDS_H
#define TANDEM_CTL_IMPORT_KINDS_H

// The kinds of stores that `tandemctl import` reads (transfer/source.h).

#include "transfer/source.h"

// NULL ends the list.
extern const struct source_kind *const import_kinds_known[];

#endif
