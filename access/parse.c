/* SPDX-License-Identifier: MIT */
#include "access/parse.h"

#include "access/line.h"
#include "access/reading.h"

// Finds a token that is named, but whose hash no line gives.
static struct parse_error find_unhashed(const struct known_list *tokens)
{
    for (size_t i = 0; i < tokens->count; i++) {
        const struct known *known = tokens->list[i];

        if (!known->has_digest) {
            return (struct parse_error){known->line, known->name,
                                        "no line gives the hash of this token"};
        }
    }
    return (struct parse_error){.what = NULL};
}

static struct parse_error parse(struct slice text, struct rules *rules,
                                const char *(*read_line)(struct reading *, struct slice))
{
    struct reading reading = {.rules = rules};
    struct lines lines;
    const char *wrong = NULL;
    struct slice line;

    if (!rules_init(rules, text)) {
        return (struct parse_error){.what = READING_NO_MEMORY};
    }
    lines = (struct lines){.rest = slice_of(rules->text, text.len)};
    while (!wrong && lines_next(&lines, &line)) {
        reading.line = lines.number;
        wrong = read_line(&reading, line);
    }
    return wrong ? (struct parse_error){reading.line, reading.word, wrong}
                 : find_unhashed(&rules->tokens);
}

struct parse_error parse_rules(struct slice text, struct rules *rules)
{
    return parse(text, rules, reading_rule);
}

struct parse_error parse_tokens(struct slice text, struct rules *rules)
{
    return parse(text, rules, reading_token);
}
