/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_READING_H
#define TANDEM_ACCESS_READING_H

// A line becomes a rule.

#include "access/rules.h"

#include "core/base/macros.h"
#include "core/base/slice.h"

#define READING_NO_MEMORY "out of memory"

struct reading {
    struct rules *rules; // with the text that the lines are of
    unsigned line;       // which it is
    struct slice word;   // that is looked at
    struct rule *rule;   // that it becomes
};

// Each reads one line and adds at most one rule. NULL where the line is good; else what is wrong
// with `word`, or, where that is empty, with the whole line.

// WHO MAY QUEUES [ROLE]
const char *reading_rule(struct reading *reading, struct slice line) MUST_USE;

// HASH GLOBS: a token of HTTP may submit to these functions, and see and cancel their jobs. It is
// named after the line in which its hash stands first.
const char *reading_token(struct reading *reading, struct slice line) MUST_USE;

#endif
