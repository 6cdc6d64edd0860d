/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_ANSWER_H
#define TANDEM_CTL_BEANSTALK_ANSWER_H

// Answers of a beanstalk server: a word, and numbers behind it.

#include "ctl/beanstalk/link.h"

#include <stddef.h>

struct answer_line {
    char line[96];       // its beginning, for people
    char word[32];       // empty where it is longer
    uint64_t numbers[2]; // what is behind it, as far as it is numbers
    size_t count;        // of those
};

// Statistics of a server with so many tubes as there can be.
#define DOCUMENT_MAX ((uint64_t)64 * 1024 * 1024)

// False with a problem, as all of these.
bool answer_read(struct link *link, struct answer_line *answer);
bool answer_is(const struct answer_line *answer, const char *word);

// Sets a problem that tells the answer; returns false.
bool answer_odd(const struct link *link, const struct answer_line *answer, const char *command);

// The answer that has this word and so many numbers, or else a problem.
bool answer_expect(struct link *link, const char *command, const char *word, size_t count,
                   struct answer_line *answer);

// The answer to a command that shows statistics or a list. `found`: it was not NOT_FOUND. The
// document is valid until the next call.
bool answer_document(struct link *link, const char *command, struct slice *document, bool *found);

#endif
