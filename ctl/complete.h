/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_COMPLETE_H
#define TANDEM_CTL_COMPLETE_H

// Completion of a command line: commands, options, words of options, and names of queues if the
// broker answers in time. The shell scripts (ctl/completion/) call this, so that they always match
// the tables.

#include "ctl/print/text.h"

#include <stddef.h>

enum complete {
    COMPLETE_WORDS = 0, // a word on each line, perhaps none
    COMPLETE_FILES = 1  // file names, which the shell completes itself
};

// Completes the word at `position` of the command line `words`, whose first word is the program.
enum complete complete_words(struct text *out, size_t position, char **words, size_t count);

#endif
