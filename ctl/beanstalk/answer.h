/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_ANSWER_H
#define TANDEM_CTL_BEANSTALK_ANSWER_H

// Parses replies of a beanstalk server: a word, followed by numbers.

#include "ctl/beanstalk/link.h"

#include <stddef.h>

struct answer_line {
    char line[96];       // start of the line, for messages
    char word[32];       // empty if the word is longer
    uint64_t numbers[2]; // the numbers after the word
    size_t count;        // of `numbers`
};

// The limit of a document: larger than statistics with the most possible tubes.
#define DOCUMENT_MAX ((uint64_t)64 * 1024 * 1024)

// False with a problem, as do the functions below.
bool answer_read(struct link *link, struct answer_line *answer);
bool answer_is(const struct answer_line *answer, const char *word);

// Sets a problem that quotes the unexpected reply. Returns false.
bool answer_odd(const struct link *link, const struct answer_line *answer, const char *command);

// Reads a reply that must have this word and `count` numbers. Any other reply is a problem.
bool answer_expect(struct link *link, const char *command, const char *word, size_t count,
                   struct answer_line *answer);

// Reads the reply to a command for statistics or a list. `found` is false after NOT_FOUND. The
// document is valid until the next call.
bool answer_document(struct link *link, const char *command, struct slice *document, bool *found);

#endif
