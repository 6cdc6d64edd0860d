/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_LINE_H
#define TANDEM_CTL_MIGRATE_LINE_H

// A line of the state file: a word, then numbers.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Adds no line end.
void line_add(struct text *to, const char *word, const uint64_t *numbers, size_t count);

// Reads `word` and `count` numbers, and sets `*rest` to the remaining line.
bool line_read(struct slice line, struct slice word, uint64_t *numbers, size_t count,
               struct slice *rest);

#endif
