/* SPDX-License-Identifier: MIT */
#include "ctl/beanstalk/answer.h"

#include "core/base/digits.h"

#include <stdio.h>
#include <string.h>

// Removes the first word from the line.
static struct slice take_word(struct slice *line)
{
    const char *end = line->len ? memchr(line->ptr, ' ', line->len) : NULL;
    struct slice word = slice_of(line->ptr, end ? (size_t)(end - line->ptr) : line->len);

    *line = slice_from(*line, end ? word.len + 1 : word.len);
    return word;
}

// Copies as a string, truncated to fit, with unprintable characters replaced.
static void copy(char *to, size_t size, struct slice from)
{
    size_t len = from.len < size - 1 ? from.len : size - 1;

    for (size_t i = 0; i < len; i++) {
        to[i] = from.ptr[i];
        if (to[i] < ' ' || to[i] > '~') {
            to[i] = '?';
        }
    }
    to[len] = '\0';
}

bool answer_read(struct link *link, struct answer_line *answer)
{
    struct slice line;
    struct slice word;

    if (!link_line(link, &line)) {
        return false;
    }
    copy(answer->line, sizeof answer->line, line);
    word = take_word(&line);
    copy(answer->word, sizeof answer->word,
         word.len < sizeof answer->word ? word : slice_of(NULL, 0));
    answer->count = 0;
    while (line.len > 0 && answer->count < 2 &&
           digits_read(take_word(&line), &answer->numbers[answer->count])) {
        answer->count++;
    }
    return true;
}

bool answer_is(const struct answer_line *answer, const char *word)
{
    return strcmp(answer->word, word) == 0;
}

bool answer_odd(const struct link *link, const struct answer_line *answer, const char *command)
{
    if (answer_is(answer, "FORBIDDEN")) {
        return link_fail(link, OUTCOME_FORBIDDEN, "forbids %s: rules ask for a token", command);
    }
    return link_fail(link, OUTCOME_FAILED, "has answered %s with \"%s\"", command, answer->line);
}

bool answer_expect(struct link *link, const char *command, const char *word, size_t count,
                   struct answer_line *answer)
{
    return answer_read(link, answer) && ((answer_is(answer, word) && answer->count >= count) ||
                                         answer_odd(link, answer, command));
}

bool answer_document(struct link *link, const char *command, struct slice *document, bool *found)
{
    struct answer_line answer;

    if (!answer_read(link, &answer)) {
        return false;
    }
    *found = !answer_is(&answer, "NOT_FOUND");
    if (!*found) {
        *document = slice_of(NULL, 0);
        return true;
    }
    if (!answer_is(&answer, "OK") || answer.count < 1) {
        return answer_odd(link, &answer, command);
    }
    if (answer.numbers[0] > DOCUMENT_MAX) {
        return link_fail(link, OUTCOME_FAILED, "answers %s with %llu bytes, which is too much",
                         command, (unsigned long long)answer.numbers[0]);
    }
    return link_body(link, answer.numbers[0], document);
}
