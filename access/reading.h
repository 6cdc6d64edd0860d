/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_READING_H
#define TANDEM_ACCESS_READING_H

// Parses a line into a rule.

#include "access/rules.h"

#include "core/base/macros.h"
#include "core/base/slice.h"

#define READING_NO_MEMORY "out of memory"

struct reading {
    struct rules *rules; // has the text of the lines
    unsigned line;       // the number of the line
    struct slice word;   // the word that is being read
    struct rule *rule;   // the rule that the line becomes
};

// Each function reads one line and adds at most one rule. Returns NULL, or the error, which is
// about `word`, or, if that is empty, about the line.

// WHO MAY QUEUES [ROLE]
const char *reading_rule(struct reading *reading, struct slice line) MUST_USE;

// HASH GLOBS: an HTTP token that may submit to these functions, and observe and cancel their jobs.
// Its name has the number of the first line with its hash.
const char *reading_token(struct reading *reading, struct slice line) MUST_USE;

#endif
