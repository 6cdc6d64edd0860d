/* SPDX-License-Identifier: MIT */
#include "ctl/api/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The longest token in bytes.
#define TOKEN_MAX 4096

static bool read_file(struct text *token, const char *file, struct problem *problem)
{
    FILE *stream = fopen(file, "re");
    char line[TOKEN_MAX + 2];
    bool good;

    if (!stream) {
        (void)problem_set(problem, OUTCOME_USAGE, "the token cannot be read from %s: %s", file,
                          strerror(errno));
        return false;
    }
    good = fgets(line, sizeof line, stream) != NULL;
    (void)fclose(stream);
    if (good) {
        line[strcspn(line, "\r\n")] = '\0';
        text_put(token, line);
    }
    if (token->len == 0) {
        (void)problem_set(problem, OUTCOME_USAGE, "there is no token in %s", file);
    }
    return token->len > 0;
}

// Whether the token is valid in a header.
static bool is_token(const struct text *token)
{
    for (size_t i = 0; i < token->len; i++) {
        if (token->data[i] <= ' ' || token->data[i] > '~') {
            return false;
        }
    }
    return token->len <= TOKEN_MAX;
}

bool token_find(struct text *token, const char *file, struct problem *problem)
{
    const char *given = getenv("TANDEM_TOKEN");

    *token = (struct text){0};
    if (file && !read_file(token, file, problem)) {
        return false;
    }
    if (!file && given) {
        text_put(token, given);
    }
    if (!is_token(token)) {
        (void)problem_set(problem, OUTCOME_USAGE, "what is in %s is no token",
                          file ? file : "TANDEM_TOKEN");
        text_free(token);
        return false;
    }
    return true;
}
