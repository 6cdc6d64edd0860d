/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_SCREEN_H
#define TANDEM_CTL_PRINT_SCREEN_H

// Where a program's words go: what standard output and standard error are.

#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

struct screen {
    bool terminal; // standard output is one
    bool talks;    // standard input and standard error are terminals: a person can be asked
    bool shows;    // standard error is a terminal, which can show how something gets on
    bool colour;   // standard output shows colours, and NO_COLOR is not set
    size_t width;  // columns of standard output; 0: it is no terminal
    size_t height;
};

void screen_find(struct screen *screen);

// Writes it to standard output and forgets it; false where that fails, and errno says why. EPIPE:
// nobody reads any more.
bool screen_write(struct text *text);

#endif
