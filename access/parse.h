/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_PARSE_H
#define TANDEM_ACCESS_PARSE_H

#include "access/rules.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

// Parses a file of rules, one in each line, or a file of HTTP tokens, one in each line.

// The first error in a text.
struct parse_error {
    unsigned line;     // 0: not in a particular line
    struct slice word; // in the text of the rules; empty: not a particular word
    const char *what;  // NULL: no error
};

// These functions set `*rules`, which rules_clear() must free even if there is an error.

// A file of rules.
struct parse_error parse_rules(struct slice text, struct rules *rules) MUST_USE;

// A file of HTTP tokens.
struct parse_error parse_tokens(struct slice text, struct rules *rules) MUST_USE;

#endif
