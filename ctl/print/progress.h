/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_PROGRESS_H
#define TANDEM_CTL_PRINT_PROGRESS_H

// A line that shows how far something is: a bar, the share, and words. It is drawn over and over in
// its place, on standard error, and goes when all is said.

#include "ctl/print/text.h"

#include <stddef.h>
#include <stdint.h>

// The line, at most `width` columns, for `done` of `total`, of which neither need be right.
void progress_line(struct text *to, uint64_t done, uint64_t total, const char *words, size_t width);

// Draws it on the terminal that standard error is; and removes it.
void progress_draw(uint64_t done, uint64_t total, const char *words);
void progress_clear(void);

#endif
