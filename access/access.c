/* SPDX-License-Identifier: MIT */
#include "access/access.h"

#include "access/interned.h"
#include "access/parse.h"
#include "access/peer.h"
#include "access/reason.h"
#include "access/rules.h"
#include "access/text.h"
#include "access/token.h"

#include <stdlib.h>
#include <string.h>

struct access {
    struct rules rules;
    struct interned interned;
    struct peer peer; // that is looked at
    uint64_t set[];   // of the rules that fit
};

typedef struct parse_error (*parse_fn)(struct slice text, struct rules *rules);

static struct access *make(const struct rules *rules)
{
    size_t words = rules->count / INTERNED_WORD_BITS + 1;
    struct access *access = malloc(sizeof *access + words * sizeof *access->set);

    if (access) {
        access->rules = *rules;
        interned_init(&access->interned, &access->rules);
    }
    return access;
}

static struct access *parse(parse_fn with, struct slice text, const char *path,
                            struct error_text *why)
{
    struct rules rules;
    struct parse_error error = with(text, &rules);
    struct access *access = error.what ? NULL : make(&rules);

    if (!access) {
        if (!error.what) {
            error.what = "out of memory";
        }
        reason_write(why, path, &error);
        rules_clear(&rules);
    }
    return access;
}

static struct access *read_with(parse_fn with, const char *path, struct error_text *why)
{
    struct parse_error error = {.line = 0};
    struct access *access;
    struct text text;

    error.what = text_read(path, &text);
    if (error.what) {
        reason_write(why, path, &error);
        return NULL;
    }
    access = parse(with, slice_of(text.bytes, text.len), path, why);
    free(text.bytes);
    return access;
}

struct access *access_read(const char *path, struct error_text *why)
{
    return read_with(parse_rules, path, why);
}

struct access *access_read_tokens(const char *path, struct error_text *why)
{
    return read_with(parse_tokens, path, why);
}

struct access *access_parse(struct slice text, const char *path, struct error_text *why)
{
    return parse(parse_rules, text, path, why);
}

struct access *access_parse_tokens(struct slice text, const char *path, struct error_text *why)
{
    return parse(parse_tokens, text, path, why);
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
