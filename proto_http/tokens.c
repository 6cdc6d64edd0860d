/* SPDX-License-Identifier: MIT */
#include "proto_http/tokens.h"

#include "core/base/log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST 4096
// How much of the path a message has room for, beside the reason.
#define PATH_SHOWN 160

struct token {
    struct token *next; // owned
    char hash[WEB_TOKEN_HASH];
    char globs[];
};

struct web_tokens {
    struct token *first; // owned
};

bool web_token_hash(struct slice token, char hash[WEB_TOKEN_HASH])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char digest[SHA256_DIGEST_LENGTH];

    if (!SHA256((const unsigned char *)token.ptr, token.len, digest)) {
        return false;
    }
    for (size_t i = 0; i < sizeof digest; i++) {
        hash[2 * i] = hex[digest[i] >> 4];
        hash[2 * i + 1] = hex[digest[i] & 15];
    }
    hash[WEB_TOKEN_HASH - 1] = '\0';
    return true;
}

const char *web_tokens_find(const struct web_tokens *tokens, struct slice token)
{
    const char *globs = NULL;
    char hash[WEB_TOKEN_HASH];

    if (!web_token_hash(token, hash)) {
        return NULL;
    }
    for (const struct token *known = tokens->first; known; known = known->next) {
        if (CRYPTO_memcmp(hash, known->hash, sizeof hash) == 0) {
            globs = known->globs;
        }
    }
    return globs;
}

static bool add_token(struct web_tokens *tokens, const char *hash, const char *globs)
{
    size_t len = strlen(globs) + 1;
    struct token *token = calloc(1, sizeof *token + len);

    if (!token) {
        return false;
    }
    memcpy(token->hash, hash, WEB_TOKEN_HASH - 1);
    memcpy(token->globs, globs, len);
    token->next = tokens->first;
    tokens->first = token;
    return true;
}

// NULL where the line is good.
static const char *add_line(struct web_tokens *tokens, const char *line)
{
    size_t hash = strcspn(line, " \t");
    const char *globs = line + hash + strspn(line + hash, " \t");

    if (hash != WEB_TOKEN_HASH - 1 || strspn(line, "0123456789abcdef") != hash) {
        return "it begins with no hash of a token";
    }
    if (!*globs) {
        return "it names no functions";
    }
    return add_token(tokens, line, globs) ? NULL : "out of memory";
}

static const char *read_lines(struct web_tokens *tokens, FILE *file, int *number)
{
    char line[LINE_MOST];
    const char *why = NULL;

    for (*number = 1; !why && fgets(line, sizeof line, file); ++*number) {
        size_t len = strlen(line);

        if (len + 1 == sizeof line && line[len - 1] != '\n') {
            return "it is too long";
        }
        while (len > 0 && isspace((unsigned char)line[len - 1])) {
            line[--len] = '\0';
        }
        if (len > 0 && *line != '#') {
            why = add_line(tokens, line);
        }
        if (why) {
            return why;
        }
    }
    return ferror(file) ? strerror(errno) : NULL;
}

// Does not block where the path is a named pipe without a writer.
static FILE *open_lines(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (fd >= 0 && !file) {
        (void)close(fd);
    }
    return file;
}

struct web_tokens *web_tokens_read(const char *path, struct frontend_reason *why)
{
    struct web_tokens *tokens = calloc(1, sizeof *tokens);
    FILE *file = tokens ? open_lines(path) : NULL;
    int number = 0;
    const char *what = tokens ? strerror(errno) : "out of memory";

    if (file) {
        what = read_lines(tokens, file, &number);
        (void)fclose(file);
    }
    if (!what) {
        return tokens;
    }
    if (number > 0) {
        (void)snprintf(why->text, sizeof why->text, "tokens: %.*s:%d: %s", PATH_SHOWN, path, number,
                       what);
    } else {
        (void)snprintf(why->text, sizeof why->text, "tokens: %.*s: %s", PATH_SHOWN, path, what);
    }
    web_tokens_free(tokens);
    return NULL;
}

struct web_tokens *web_tokens_load(const char *path)
{
    struct frontend_reason why;
    struct web_tokens *tokens = web_tokens_read(path, &why);

    if (!tokens) {
        log_error("tokens_not_read", log_string("why", why.text));
    }
    return tokens;
}

void web_tokens_free(struct web_tokens *tokens)
{
    while (tokens && tokens->first) {
        struct token *token = tokens->first;

        tokens->first = token->next;
        free(token);
    }
    free(tokens);
}
