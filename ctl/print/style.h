/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_STYLE_H
#define TANDEM_CTL_PRINT_STYLE_H

// How a piece of text stands out, on a terminal that shows colours; what it says is never in its
// colour alone.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>

enum style {
    STYLE_PLAIN,
    STYLE_STRONG, // headings
    STYLE_FAINT,  // zeros, and what is only said for order's sake
    STYLE_GOOD,
    STYLE_ODD,  // worth a look
    STYLE_BAD,  // wants a person
    STYLE_MARK, // what is chosen
};

// Adds it so; plain where `colour` is false.
void style_add(struct text *to, enum style style, bool colour, struct slice what);

#endif
