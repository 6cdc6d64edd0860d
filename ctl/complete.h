/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_COMPLETE_H
#define TANDEM_CTL_COMPLETE_H

// What a shell offers while a command line is being written: commands, options, words of options,
// and names of queues, for which the broker is asked if it answers at once. The completions of the
// shells (ctl/completion/) only ask for this, so that they never lag behind the tables.

#include "ctl/print/text.h"

#include <stddef.h>

enum complete {
    COMPLETE_WORDS = 0, // a word on each line; none: there is nothing to offer
    COMPLETE_FILES = 1  // names of files, which the shell knows best
};

// For the word at `position` of the command line `words`, whose first word is the program.
enum complete complete(struct text *out, size_t position, char **words, size_t count);

#endif
