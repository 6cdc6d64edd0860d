/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_TOP_VIEW_H
#define TANDEM_CTL_TOP_VIEW_H

// Formats the live view as lines of text, for a terminal of any size.

#include "ctl/top_state.h"

// The number of queues that fit.
size_t top_view_rows(size_t height);

// Adds `height` lines of at most `width` columns.
void top_view(struct text *out, const struct top_state *state, size_t width, size_t height,
              bool colour);

#endif
