/* SPDX-License-Identifier: MIT */
#include "access/known.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 8

// The keys of the tables come from the administrator, so the hash needs no secret.
static uint64_t hash_name(struct slice name)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < name.len; i++) {
        hash = hash_mix(hash + (unsigned char)name.ptr[i] + 1);
    }
    return hash;
}

static uint64_t hash_digest(const struct token_digest *digest)
{
    uint64_t hash;

    memcpy(&hash, digest->bytes, sizeof hash);
    return hash;
}

static uint64_t hash_of_named(const struct hash_node *node)
{
    return hash_name(container_of((struct hash_node *)(uintptr_t)node, struct known, named)->name);
}

static uint64_t hash_of_hashed(const struct hash_node *node)
{
    return hash_digest(
        &container_of((struct hash_node *)(uintptr_t)node, struct known, hashed)->digest);
}

void known_init(struct known_list *tokens)
{
    *tokens = (struct known_list){.list = NULL};
    hash_init(&tokens->by_name, hash_of_named);
    hash_init(&tokens->by_digest, hash_of_hashed);
}

void known_clear(struct known_list *tokens)
{
    for (size_t i = 0; i < tokens->count; i++) {
        free(tokens->list[i]);
    }
    free(tokens->list);
    hash_clear(&tokens->by_name);
    hash_clear(&tokens->by_digest);
}

struct known *known_by_name(const struct known_list *tokens, struct slice name)
{
    struct hash_node *node = hash_first(&tokens->by_name, hash_name(name));

    while (node && !slice_equal(container_of(node, struct known, named)->name, name)) {
        node = node->next;
    }
    return node ? container_of(node, struct known, named) : NULL;
}

struct known *known_by_digest(const struct known_list *tokens, const struct token_digest *digest)
{
    struct hash_node *node = hash_first(&tokens->by_digest, hash_digest(digest));

    while (node && !token_digest_equal(&container_of(node, struct known, hashed)->digest, digest)) {
        node = node->next;
    }
    return node ? container_of(node, struct known, hashed) : NULL;
}

static bool make_room(struct known_list *tokens)
{
    size_t room = tokens->room ? 2 * tokens->room : FIRST_ROOM;
    struct known **list;

    if (tokens->count < tokens->room) {
        return true;
    }
    list = realloc(tokens->list, room * sizeof(struct known *));
    if (!list) {
        return false;
    }
    tokens->list = list;
    tokens->room = room;
    return true;
}

struct known *known_add(struct known_list *tokens, struct slice name, unsigned line)
{
    struct known *known;

    if (!make_room(tokens) || !hash_make_room(&tokens->by_name)) {
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

const char *known_set_digest(struct known_list *tokens, struct known *known,
                             const struct token_digest *digest)
{
    if (known->has_digest) {
        return token_digest_equal(&known->digest, digest)
                   ? NULL
                   : "the token has another hash in another line";
    }
    if (known_by_digest(tokens, digest)) {
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

unsigned known_find(const struct known_list *tokens, const struct token_digest *digest)
{
    unsigned found = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        unsigned same = token_digest_equal(&tokens->list[i]->digest, digest);

        found |= (0 - same) & (unsigned)(i + 1);
    }
    return found;
}
