/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_SCREEN_H
#define TANDEM_CTL_PRINT_SCREEN_H

// Standard output and standard error: whether they are terminals, styles of text, a progress line,
// and questions to the user.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct screen {
    bool terminal;       // standard output is a terminal
    bool asks;           // standard input and standard error are terminals: questions are possible
    bool shows_progress; // standard error is a terminal
    bool colour;         // standard output shows colours, and NO_COLOR is not set
    size_t width;        // columns of standard output; 0: not a terminal
    size_t height;
};

void screen_find(struct screen *screen);

// Writes the text to standard output and empties it. False with errno on failure; EPIPE means that
// the reader has closed the pipe.
bool screen_write(struct text *text);

// Colour is never the only carrier of information.
enum style {
    STYLE_PLAIN,
    STYLE_STRONG, // headings
    STYLE_FAINT,  // zeros and details
    STYLE_GOOD,
    STYLE_ODD,  // unusual
    STYLE_BAD,  // needs attention
    STYLE_MARK, // selected
};

// Adds the text in the style, plain unless `colour`.
void style_add(struct text *to, enum style style, bool colour, struct slice what);

// Draws a line on standard error: a bar, a percentage and `words`. The next call replaces it.
// `done` and `total` may be estimates. The caller checks that standard error is a terminal.
void progress_draw(uint64_t done, uint64_t total, const char *words);
void progress_clear(void);

// Asks on standard error and reads the answer from standard input. True if the answer is yes; any
// other answer and the end of the input mean no.
bool prompt_confirms(const char *question);

#endif
