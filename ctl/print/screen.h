/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_SCREEN_H
#define TANDEM_CTL_PRINT_SCREEN_H

// Properties of standard output and standard error.

#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

struct screen {
    bool terminal; // standard output is a terminal
    bool talks;    // standard input and standard error are terminals: questions are possible
    bool shows;    // standard error is a terminal: progress can be shown
    bool colour;   // standard output shows colours, and NO_COLOR is not set
    size_t width;  // columns of standard output; 0: not a terminal
    size_t height;
};

void screen_find(struct screen *screen);

// Writes the text to standard output and empties it. False with errno on failure; EPIPE means that
// the reader has closed the pipe.
bool screen_write(struct text *text);

#endif
