/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_PROGRESS_H
#define TANDEM_CTL_PRINT_PROGRESS_H

// A progress line on standard error: a bar, a percentage and words. It is redrawn in place and
// removed at the end.

#include "ctl/print/text.h"

#include <stddef.h>
#include <stdint.h>

// Draws the line if standard error is a terminal, or removes it.
void progress_draw(uint64_t done, uint64_t total, const char *words);
void progress_clear(void);

#endif
