/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_TERMINAL_H
#define TANDEM_CTL_PRINT_TERMINAL_H

// The terminal as one whole screen that is drawn anew: keys come at once and unseen, and what stood
// there before comes back. It is put back as it was at terminal_leave(), and however the process
// exits.

#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

// False where standard input and output are no terminal.
bool terminal_enter(void);
void terminal_leave(void);

void terminal_size(size_t *width, size_t *height);

// Shows the lines (each ends with a line feed) from the top on, and nothing else.
void terminal_draw(const struct text *lines);

#endif
