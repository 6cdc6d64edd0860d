/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_STYLE_H
#define TANDEM_CTL_PRINT_STYLE_H

// Styles of text on a terminal with colours. Colour is never the only carrier of information.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>

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

#endif
