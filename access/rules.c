/* SPDX-License-Identifier: MIT */
#include "access/rules.h"

#include "access/parse.h"
#include "core/base/glob.h"

#include <stdlib.h>
#include <string.h>

//
// Tokens
//

#define FIRST_TOKENS 8

// The keys of the tables come from the administrator, so the hash needs no secret.
static uint64_t known_token_hash_name(struct slice name)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < name.len; i++) {
        hash = hash_mix(hash + (unsigned char)name.ptr[i] + 1);
    }
    return hash;
}

static uint64_t known_token_hash_digest(const struct token_digest *digest)
{
    uint64_t hash;

    memcpy(&hash, digest->bytes, sizeof hash);
    return hash;
}

static uint64_t known_token_hash_of_named(const struct hash_node *node)
{
    return known_token_hash_name(
        container_of((struct hash_node *)(uintptr_t)node, struct known_token, named)->name);
}

static uint64_t known_token_hash_of_hashed(const struct hash_node *node)
{
    return known_token_hash_digest(
        &container_of((struct hash_node *)(uintptr_t)node, struct known_token, hashed)->digest);
}

void known_tokens_init(struct known_tokens *tokens)
{
    *tokens = (struct known_tokens){.list = NULL};
    hash_init(&tokens->by_name, known_token_hash_of_named);
    hash_init(&tokens->by_digest, known_token_hash_of_hashed);
}

void known_tokens_clear(struct known_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++) {
        free(tokens->list[i]);
    }
    free(tokens->list);
    hash_clear(&tokens->by_name);
    hash_clear(&tokens->by_digest);
}

struct known_token *known_token_by_name(const struct known_tokens *tokens, struct slice name)
{
    struct hash_node *node = hash_first(&tokens->by_name, known_token_hash_name(name));

    while (node && !slice_equal(container_of(node, struct known_token, named)->name, name)) {
        node = node->next;
    }
    return node ? container_of(node, struct known_token, named) : NULL;
}

struct known_token *known_token_by_digest(const struct known_tokens *tokens,
                                          const struct token_digest *digest)
{
    struct hash_node *node = hash_first(&tokens->by_digest, known_token_hash_digest(digest));

    while (node &&
           !token_digest_equal(&container_of(node, struct known_token, hashed)->digest, digest)) {
        node = node->next;
    }
    return node ? container_of(node, struct known_token, hashed) : NULL;
}

static bool known_tokens_make_room(struct known_tokens *tokens)
{
    size_t room = tokens->room ? 2 * tokens->room : FIRST_TOKENS;
    struct known_token **list;

    if (tokens->count < tokens->room) {
        return true;
    }
    list = realloc(tokens->list, room * sizeof(struct known_token *));
    if (!list) {
        return false;
    }
    tokens->list = list;
    tokens->room = room;
    return true;
}

struct known_token *known_tokens_add(struct known_tokens *tokens, struct slice name, unsigned line)
{
    struct known_token *known;

    if (!known_tokens_make_room(tokens) || !hash_make_room(&tokens->by_name)) {
        return NULL;
    }
    known = calloc(1, sizeof *known + name.len);
    if (known) {
        memcpy(known->bytes, name.ptr, name.len);
        known->name = slice_of(known->bytes, name.len);
        tokens->list[tokens->count++] = known;
        known->number = (unsigned)tokens->count;
        known->line = line;
        hash_insert(&tokens->by_name, &known->named);
    }
    return known;
}

const char *known_token_set_digest(struct known_tokens *tokens, struct known_token *known,
                                   const struct token_digest *digest)
{
    if (known->has_digest) {
        return token_digest_equal(&known->digest, digest)
                   ? NULL
                   : "the token has another hash in another line";
    }
    if (known_token_by_digest(tokens, digest)) {
        return "another token has this hash";
    }
    if (!hash_make_room(&tokens->by_digest)) {
        return "out of memory";
    }
    known->digest = *digest;
    known->has_digest = true;
    hash_insert(&tokens->by_digest, &known->hashed);
    return NULL;
}

unsigned known_tokens_find(const struct known_tokens *tokens, const struct token_digest *digest)
{
    unsigned found = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        unsigned same = token_digest_equal(&tokens->list[i]->digest, digest);

        found |= (0 - same) & (unsigned)(i + 1);
    }
    return found;
}

//
// Rules
//

#define FIRST_RULES 16

bool rules_init(struct rules *rules, struct slice text)
{
    *rules = (struct rules){.text = malloc(text.len > 0 ? text.len : 1)};
    known_tokens_init(&rules->tokens);
    if (!rules->text) {
        return false;
    }
    if (text.len > 0) {
        memcpy(rules->text, text.ptr, text.len);
    }
    return true;
}

void rules_clear(struct rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        who_clear(&rules->list[i].who);
    }
    free(rules->list);
    free(rules->globs);
    known_tokens_clear(&rules->tokens);
    free(rules->text);
}

struct rule *rules_add(struct rules *rules)
{
    size_t room = rules->room ? 2 * rules->room : FIRST_RULES;

    if (rules->count == rules->room) {
        struct rule *list = realloc(rules->list, room * sizeof *list);

        if (!list) {
            return NULL;
        }
        rules->list = list;
        rules->room = room;
    }
    rules->list[rules->count] = (struct rule){.glob = rules->glob_count};
    return &rules->list[rules->count++];
}

// The value of a hexadecimal hex_digit_value; 16: not a hex_digit_value.
static unsigned hex_digit_value(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = memchr(digits, c, sizeof digits - 1);
    unsigned at = found ? (unsigned)(found - digits) : 16;

    return !found || at < 16 ? at : at - 6;
}

// Whether two hexadecimal digits follow each \x.
static bool rules_has_hex_digits(const char *glob, size_t len)
{
    for (size_t at = 0; at + 1 < len; at++) {
        if (glob[at] == '\\' && glob[++at] == 'x' &&
            (len - at < 3 || hex_digit_value(glob[at + 1]) > 15 ||
             hex_digit_value(glob[at + 2]) > 15)) {
            return false;
        }
    }
    return true;
}

const char *rules_unescape(struct rules *rules, struct slice *glob)
{
    char *text = rules->text + (glob->ptr - rules->text);
    size_t to = 0;

    if (!rules_has_hex_digits(text, glob->len)) {
        return "\\x is not followed by two hexadecimal digits";
    }
    for (size_t at = 0; at < glob->len; at++) {
        text[to++] = text[at];
        if (text[at] != '\\' || at + 1 == glob->len) {
            continue;
        }
        at++;
        if (text[at] == 'x') {
            text[at + 2] =
                (char)(hex_digit_value(text[at + 1]) << 4 | hex_digit_value(text[at + 2]));
            at += 2;
        }
        text[to++] = text[at];
    }
    glob->len = to;
    return NULL;
}

const char *rules_add_glob(struct rules *rules, struct slice *glob)
{
    size_t room = rules->glob_room ? 2 * rules->glob_room : FIRST_RULES;
    const char *wrong = rules_unescape(rules, glob);

    if (wrong) {
        return wrong;
    }
    if (glob->len == 0) {
        return "the list of queues has an empty glob";
    }
    if (!glob_valid(*glob)) {
        return "the glob is malformed: a set, a range or a \\ is not complete";
    }
    if (rules->glob_count == rules->glob_room) {
        struct slice *globs = realloc(rules->globs, room * sizeof *globs);

        if (!globs) {
            return "out of memory";
        }
        rules->globs = globs;
        rules->glob_room = room;
    }
    rules->globs[rules->glob_count++] = *glob;
    rules->list[rules->count - 1].globs++;
    return NULL;
}
