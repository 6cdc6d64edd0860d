/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_LETTERS_H
#define TANDEM_CTL_PRINT_LETTERS_H

// UTF-8 on a terminal: the width of text, and escapes for characters that move the cursor, change
// colours or turn the direction of text. Names and bodies are chosen by clients, so they are
// escaped.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stdint.h>

// Sets the locale so that widths are those of Unicode. Must be called before the other functions.
void letters_begin(void);

// Adds `from` with unprintable characters escaped as \n, \x1b or \u{202e}, and invalid UTF-8 as
// \xff. If `lines`, line feeds and tabs are kept.
void letters_escape(struct text *to, struct slice from, bool lines);

// The width in columns of text that has been escaped.
size_t letters_width(struct slice utf8);

// The number of bytes that fit in `columns`.
size_t letters_fit(struct slice utf8, size_t columns);

// Whether the bytes are valid UTF-8 without control characters other than line feed, carriage
// return and tab.
bool letters_readable(struct slice bytes);

#endif
