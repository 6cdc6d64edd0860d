/* SPDX-License-Identifier: MIT */
#include "access/reading.h"

#include "access/line.h"

#include "core/grants.h"

#include <stdio.h>

// Room for a name that is made for a token.
#define NAME_MAX_SIZE 32

// The rights of an HTTP token on the functions of its globs.
#define TOKEN_RIGHTS (MAY_SUBMIT | MAY_OBSERVE | MAY_CANCEL)

static struct known *token_of_line(struct reading *reading, const struct token_digest *digest)
{
    struct known_list *tokens = &reading->rules->tokens;
    struct known *known = known_by_digest(tokens, digest);
    char name[NAME_MAX_SIZE];
    int len;

    if (known) {
        return known;
    }
    len = snprintf(name, sizeof name, "http.tokens:%u", reading->line);
    known = known_add(tokens, slice_of(name, (size_t)len), reading->line);
    return known && !known_set_digest(tokens, known, digest) ? known : NULL;
}

// Blanks separate globs as commas do, and empty globs are skipped.
static const char *read_globs(struct reading *reading, struct slice line)
{
    const char *wrong = NULL;
    struct slice glob;

    while (!wrong && line_word(&line, &reading->word)) {
        struct slice list = reading->word;

        while (!wrong && line_item(&list, &glob)) {
            wrong = glob.len > 0 ? rules_add_glob(reading->rules, &glob) : NULL;
            reading->word = wrong ? glob : reading->word;
        }
    }
    return wrong || reading->rule->globs > 0 ? wrong : "the line names no functions";
}

const char *reading_token(struct reading *reading, struct slice line)
{
    const char *wrong = line_check(line);
    struct token_digest digest;
    struct known *known;

    reading->word = slice_of(NULL, 0);
    if (wrong || (line.len > 0 && *line.ptr == '#') || !line_word(&line, &reading->word)) {
        return wrong;
    }
    if (!token_digest_read(reading->word, &digest)) {
        // The word may be the token itself, by mistake, and must not be logged.
        reading->word.len = 0;
        return "the line does not begin with the hash of a token";
    }
    reading->rule = rules_add(reading->rules);
    known = reading->rule ? token_of_line(reading, &digest) : NULL;
    if (!known) {
        return READING_NO_MEMORY;
    }
    reading->rule->who = (struct who){.kind = WHO_TOKEN, .token = known->number};
    reading->rule->rights = TOKEN_RIGHTS;
    return read_globs(reading, line);
}
