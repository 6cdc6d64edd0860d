/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_LETTERS_H
#define TANDEM_CTL_PRINT_LETTERS_H

// UTF-8 on a terminal: how wide it is there, and what of it must not get there as it is, because it
// would move the cursor, recolour the screen, or turn the direction of what stands beside it. Names
// and bodies are other people's.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stdint.h>

// Widths are those of Unicode, whatever the user's language. To be called before all others.
void letters_begin(void);

// Adds it with all that is no plain letter as \n, \x1b or \u{202e}; a byte that is no UTF-8 is
// \xff. With `lines`, line feeds and tabs stay.
void letters_escape(struct text *to, struct slice from, bool lines);

// Columns that it takes. It has been escaped.
size_t letters_width(struct slice utf8);

// How many of its bytes take at most so many columns.
size_t letters_fit(struct slice utf8, size_t columns);

// Whether a person can read it as it is: UTF-8, and no control character but line feeds and tabs.
bool letters_readable(struct slice bytes);

#endif
