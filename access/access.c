/* SPDX-License-Identifier: MIT */
#include "access/access.h"

#include "access/interned.h"
#include "access/parse.h"
#include "access/peer.h"
#include "access/rules.h"
#include "access/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The longest file that is read, in bytes.
#define ACCESS_FILE_MAX ((size_t)1 << 20)
// A message quotes this many bytes of the path and of the word.
#define PATH_QUOTED 100
#define WORD_QUOTED 48
#define BYTE_QUOTED 4 // \xHH

struct access {
    struct rules rules;
    struct interned interned;
    struct peer peer; // the peer that is being compared
    uint64_t set[];   // a bit for each rule that matches
};

typedef struct parse_error (*parse_fn)(struct slice text, struct rules *rules);

static struct access *access_new(const struct rules *rules)
{
    size_t words = rules->count / INTERNED_WORD_BITS + 1;
    struct access *access = malloc(sizeof *access + words * sizeof *access->set);

    if (access) {
        access->rules = *rules;
        interned_init(&access->interned, &access->rules);
    }
    return access;
}

// Writes the word. Bytes that are not printable are written as \xHH, and a long word is cut.
static void access_quote_word(struct slice word, char quoted[WORD_QUOTED + BYTE_QUOTED])
{
    static const char digits[] = "0123456789abcdef";
    size_t to = 0;

    for (size_t i = 0; i < word.len && to < WORD_QUOTED - BYTE_QUOTED; i++) {
        unsigned char byte = (unsigned char)word.ptr[i];

        if (byte >= ' ' && byte < 0x7f) {
            quoted[to++] = (char)byte;
        } else {
            quoted[to++] = '\\';
            quoted[to++] = 'x';
            quoted[to++] = digits[byte >> 4];
            quoted[to++] = digits[byte & 15];
        }
    }
    quoted[to] = '\0';
}

// Sets the error of a refused file: `PATH:LINE: "word": error`.
static void access_explain(struct error_text *why, const char *path,
                           const struct parse_error *error)
{
    char word[WORD_QUOTED + BYTE_QUOTED];

    access_quote_word(error->word, word);
    if (error->line == 0) {
        (void)error_set(why, "%.*s: %s", PATH_QUOTED, path, error->what);
    } else if (error->word.len == 0) {
        (void)error_set(why, "%.*s:%u: %s", PATH_QUOTED, path, error->line, error->what);
    } else {
        (void)error_set(why, "%.*s:%u: \"%s\": %s", PATH_QUOTED, path, error->line, word,
                        error->what);
    }
}

static struct access *access_parse_with(parse_fn with, struct slice text, const char *path,
                                        struct error_text *why)
{
    struct rules rules;
    struct parse_error error = with(text, &rules);
    struct access *access = error.what ? NULL : access_new(&rules);

    if (!access) {
        if (!error.what) {
            error.what = "out of memory";
        }
        access_explain(why, path, &error);
        rules_clear(&rules);
    }
    return access;
}

// Reads at most one byte more than the limit. Returns NULL, or the error.
static const char *access_read_bytes(int fd, char *bytes, size_t *len)
{
    ssize_t got = 1;

    *len = 0;
    while (got > 0 && *len <= ACCESS_FILE_MAX) {
        do {
            got = read(fd, bytes + *len, ACCESS_FILE_MAX + 1 - *len);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            return strerror(errno);
        }
        *len += (size_t)got;
    }
    return *len > ACCESS_FILE_MAX ? "the file is longer than 1 MiB" : NULL;
}

// Reads a regular file; does not block if the path is another kind of file. Returns NULL, and the
// caller must free() `*bytes`, or the error.
static const char *access_read_file(const char *path, char **bytes, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *wrong = NULL;
    struct stat facts;

    *bytes = NULL;
    if (fd < 0) {
        return strerror(errno);
    }
    if (fstat(fd, &facts) < 0) {
        wrong = strerror(errno);
    } else if (!S_ISREG(facts.st_mode)) {
        wrong = S_ISDIR(facts.st_mode) ? strerror(EISDIR) : "not a regular file";
    } else {
        // Untouched pages use no memory.
        *bytes = malloc(ACCESS_FILE_MAX + 1);
        wrong = *bytes ? access_read_bytes(fd, *bytes, len) : "out of memory";
    }
    (void)close(fd);
    if (wrong) {
        free(*bytes);
    }
    return wrong;
}

static struct access *access_read_with(parse_fn with, const char *path, struct error_text *why)
{
    struct parse_error error = {.line = 0};
    struct access *access;
    char *bytes = NULL;
    size_t len = 0;

    error.what = access_read_file(path, &bytes, &len);
    if (error.what) {
        access_explain(why, path, &error);
        return NULL;
    }
    access = access_parse_with(with, slice_of(bytes, len), path, why);
    free(bytes);
    return access;
}

struct access *access_read(const char *path, struct error_text *why)
{
    return access_read_with(parse_rules, path, why);
}

struct access *access_read_tokens(const char *path, struct error_text *why)
{
    return access_read_with(parse_tokens, path, why);
}

struct access *access_parse(struct slice text, const char *path, struct error_text *why)
{
    return access_parse_with(parse_rules, text, path, why);
}

struct access *access_parse_tokens(struct slice text, const char *path, struct error_text *why)
{
    return access_parse_with(parse_tokens, text, path, why);
}

void access_free(struct access *access)
{
    if (access) {
        interned_clear(&access->interned);
        rules_clear(&access->rules);
        free(access);
    }
}

static void clear_set(struct access *access)
{
    memset(access->set, 0, access->interned.words * sizeof *access->set);
}

static void add_to_set(struct access *access, size_t rule)
{
    access->set[rule / INTERNED_WORD_BITS] |= (uint64_t)1 << rule % INTERNED_WORD_BITS;
}

struct grants *access_of_peer(struct access *access, const struct access_peer *peer)
{
    peer_init(&access->peer, peer);
    clear_set(access);
    for (size_t i = 0; i < access->rules.count; i++) {
        if (who_is_peer(&access->rules.list[i].who, &access->peer)) {
            add_to_set(access, i);
        }
    }
    return interned_get(&access->interned, access->set);
}

struct slice access_role_of_peer(struct access *access, const struct access_peer *peer)
{
    peer_init(&access->peer, peer);
    for (size_t i = 0; i < access->rules.count; i++) {
        const struct rule *rule = &access->rules.list[i];

        if (rule->role.len > 0 && who_is_peer(&rule->who, &access->peer)) {
            return rule->role;
        }
    }
    return slice_of(NULL, 0);
}

size_t access_count(const struct access *access)
{
    return access->rules.tokens.count + access->rules.count;
}

unsigned access_find_token(const struct access *access, struct slice text)
{
    struct token_digest digest;

    return token_digest(text, &digest) ? known_find(&access->rules.tokens, &digest) : 0;
}

unsigned access_find_token_again(const struct access *access, const struct access *before,
                                 unsigned token)
{
    const struct known *known;

    ENSURE(token > 0 && token <= before->rules.tokens.count);
    known = known_by_digest(&access->rules.tokens, &before->rules.tokens.list[token - 1]->digest);
    return known ? known->number : 0;
}

struct slice access_token_name(const struct access *access, unsigned token)
{
    ENSURE(token > 0 && token <= access->rules.tokens.count);
    return access->rules.tokens.list[token - 1]->name;
}

struct grants *access_of_token(struct access *access, unsigned token)
{
    clear_set(access);
    for (size_t i = 0; i < access->rules.count; i++) {
        if (who_is_token(&access->rules.list[i].who, token)) {
            add_to_set(access, i);
        }
    }
    return interned_get(&access->interned, access->set);
}

struct slice access_role_of_token(const struct access *access, unsigned token)
{
    for (size_t i = 0; i < access->rules.count; i++) {
        const struct rule *rule = &access->rules.list[i];

        if (rule->role.len > 0 && who_is_token(&rule->who, token)) {
            return rule->role;
        }
    }
    return slice_of(NULL, 0);
}
