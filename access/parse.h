/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_PARSE_H
#define TANDEM_ACCESS_PARSE_H

// Text becomes rules: a rule a line, or, of the tokens of HTTP, a token a line.

#include "access/rules.h"

#include "core/base/macros.h"
#include "core/base/slice.h"

// What is wrong in a text.
struct parse_error {
    unsigned line;     // 0: no line of it
    struct slice word; // of the rules' text; empty: no word of it
    const char *what;  // NULL: nothing is wrong
};

// Each makes rules, which rules_clear() frees, whatever is wrong with the text.

// Of a file of rules.
struct parse_error parse_rules(struct slice text, struct rules *rules) MUST_USE;

// Of a file of tokens of HTTP.
struct parse_error parse_tokens(struct slice text, struct rules *rules) MUST_USE;

#endif
