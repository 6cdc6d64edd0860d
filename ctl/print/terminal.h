/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_TERMINAL_H
#define TANDEM_CTL_PRINT_TERMINAL_H

// The terminal as a full screen that is redrawn: keys arrive at once and without echo. The former
// contents and modes are restored by terminal_leave(), and at any exit of the process.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

// False unless standard input and output are terminals.
bool terminal_enter(void);
void terminal_leave(void);

void terminal_size(size_t *width, size_t *height);

// Replaces the screen with the lines, each of which ends with a line feed.
void terminal_draw(const struct text *lines);

// Keys without a character. Other keys are their byte.
enum terminal_key {
    TERMINAL_KEY_NONE = 256,
    TERMINAL_KEY_UP,
    TERMINAL_KEY_DOWN,
    TERMINAL_KEY_LEFT,
    TERMINAL_KEY_RIGHT,
    TERMINAL_KEY_PAGE_UP,
    TERMINAL_KEY_PAGE_DOWN,
    TERMINAL_KEY_HOME,
    TERMINAL_KEY_END,
    TERMINAL_KEY_ESCAPE
};

// Parses the first key in the bytes that a terminal has sent, and sets `*len` to its length.
// `bytes` must not be empty. TERMINAL_KEY_NONE for an unknown sequence; TERMINAL_KEY_ESCAPE for an
// incomplete one.
int terminal_key(struct slice bytes, size_t *len);

#endif
