/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_TERMINAL_H
#define TANDEM_CTL_PRINT_TERMINAL_H

// The terminal as a full screen that is redrawn: keys arrive at once and without echo. The former
// contents and modes are restored by terminal_leave(), and at any exit of the process.

#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

// False unless standard input and output are terminals.
bool terminal_enter(void);
void terminal_leave(void);

void terminal_size(size_t *width, size_t *height);

// Replaces the screen with the lines, each of which ends with a line feed.
void terminal_draw(const struct text *lines);

#endif
