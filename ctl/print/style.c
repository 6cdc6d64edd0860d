/* SPDX-License-Identifier: MIT */
#include "ctl/print/style.h"

#include "core/base/macros.h"

static const char *code(enum style style)
{
    switch (style) {
    case STYLE_PLAIN:
        return "";
    case STYLE_STRONG:
        return "\033[1m";
    case STYLE_FAINT:
        return "\033[2m";
    case STYLE_GOOD:
        return "\033[32m";
    case STYLE_ODD:
        return "\033[33m";
    case STYLE_BAD:
        return "\033[31m";
    case STYLE_MARK:
        return "\033[7m";
    }
    UNREACHABLE();
}

void style_add(struct text *to, enum style style, bool colour, struct slice what)
{
    bool changes = colour && style != STYLE_PLAIN && what.len > 0;

    if (changes) {
        text_put(to, code(style));
    }
    text_add(to, what);
    if (changes) {
        text_put(to, "\033[0m");
    }
}
