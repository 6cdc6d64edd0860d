/* SPDX-License-Identifier: MIT */
#include "access/access.h"

#include "access/parse.h"
#include "access/rules.h"
#include "access/token.h"
#include "access/who.h"
#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/grants.h"
#include "os/small_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

//
// Interned grants: one for each set of rules that matches a caller, so callers that match the same
// rules share it. Grants without users are freed when others are made.
//

#define SET_WORD_BITS 64

struct grant_sets {
    const struct rules *rules; // borrowed
    size_t words;              // in a set
    struct hash sets;          /* private */
    struct list_node all;      /* private */
    size_t sweep_at;           /* private: the number of sets at which unused ones are freed */
};

// The number of sets below which no sweep takes place.
#define SWEEP_LEAST 64

struct grant_set {
    struct hash_node node;
    struct list_node link;
    uint64_t hash;
    struct grants *grants; // a reference
    uint64_t set[];
};

static uint64_t grant_set_hash(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct grant_set, node)->hash;
}

static void grant_sets_init(struct grant_sets *sets, const struct rules *rules)
{
    *sets = (struct grant_sets){
        .rules = rules,
        .words = (rules->count + SET_WORD_BITS - 1) / SET_WORD_BITS,
        .sweep_at = SWEEP_LEAST,
    };
    hash_init(&sets->sets, grant_set_hash);
    list_init(&sets->all);
}

static void grant_set_free(struct grant_set *entry)
{
    list_remove(&entry->link);
    grants_unref(entry->grants);
    free(entry);
}

static void grant_sets_clear(struct grant_sets *sets)
{
    while (!list_empty(&sets->all)) {
        grant_set_free(list_item(list_first(&sets->all), struct grant_set, link));
    }
    hash_clear(&sets->sets);
}

// Frees the sets without users. A sweep takes place when there are twice as many sets as were in
// use after the last one, so its cost for each set that is made is constant.
static void grant_sets_sweep(struct grant_sets *sets)
{
    struct list_node *next;

    for (struct list_node *node = sets->all.next; node != &sets->all; node = next) {
        struct grant_set *entry = list_item(node, struct grant_set, link);

        next = node->next;
        if (!grants_shared(entry->grants)) {
            hash_remove(&sets->sets, &entry->node);
            grant_set_free(entry);
        }
    }
    sets->sweep_at = 2 * hash_count(&sets->sets);
    if (sets->sweep_at < SWEEP_LEAST) {
        sets->sweep_at = SWEEP_LEAST;
    }
}

static bool grant_set_has(const uint64_t *set, size_t rule)
{
    return set[rule / SET_WORD_BITS] >> rule % SET_WORD_BITS & 1;
}

static struct grants *grant_set_make_grants(const struct rules *rules, const uint64_t *set)
{
    struct grant *list;
    struct grants *grants;
    size_t count = 0;

    for (size_t i = 0; i < rules->count; i++) {
        count += grant_set_has(set, i) ? rules->list[i].globs : 0;
    }
    list = malloc((count + 1) * sizeof *list);
    if (!list) {
        return NULL;
    }
    count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->list[i];

        for (size_t j = 0; grant_set_has(set, i) && j < rule->globs; j++) {
            list[count++] = (struct grant){rule->rights, rules->globs[rule->glob + j]};
        }
    }
    grants = grants_new(list, count);
    free(list);
    return grants;
}

static struct grant_set *grant_set_new(struct grant_sets *sets, const uint64_t *set, uint64_t hash)
{
    size_t size = sets->words * sizeof *set;
    struct grant_set *entry = malloc(sizeof *entry + size);

    if (!entry) {
        return NULL;
    }
    entry->hash = hash;
    memcpy(entry->set, set, size);
    entry->grants = grant_set_make_grants(sets->rules, set);
    if (!entry->grants) {
        free(entry);
        return NULL;
    }
    return entry;
}

static struct grant_set *grant_sets_find(const struct grant_sets *sets, const uint64_t *set,
                                         uint64_t hash)
{
    struct hash_node *node = hash_first(&sets->sets, hash);

    for (; node; node = node->next) {
        struct grant_set *entry = container_of(node, struct grant_set, node);

        if (entry->hash == hash && memcmp(entry->set, set, sets->words * sizeof *set) == 0) {
            return entry;
        }
    }
    return NULL;
}

// The grants of a set of rules; the caller gets a reference. The set has a bit for each rule, and
// the first rule is the lowest bit of the first word. NULL: no memory.
static struct grants *grant_sets_get(struct grant_sets *sets, const uint64_t *set)
{
    struct grant_set *entry;
    uint64_t hash = 0;

    for (size_t i = 0; i < sets->words; i++) {
        hash = hash_mix(hash ^ set[i]) + i;
    }
    entry = grant_sets_find(sets, set, hash);
    if (entry) {
        return grants_ref(entry->grants);
    }
    if (hash_count(&sets->sets) >= sets->sweep_at) {
        grant_sets_sweep(sets);
    }
    entry = hash_make_room(&sets->sets) ? grant_set_new(sets, set, hash) : NULL;
    if (!entry) {
        return NULL;
    }
    hash_insert(&sets->sets, &entry->node);
    list_append(&sets->all, &entry->link);
    return grants_ref(entry->grants);
}

//
// The rules of a file
//

// The longest file that is read, in bytes.
#define ACCESS_FILE_MAX ((size_t)1 << 20)
// A message quotes this many bytes of the path and of the word.
#define PATH_QUOTED 100
#define WORD_QUOTED 48
#define BYTE_QUOTED 4 // \xHH

struct access {
    struct rules rules;
    struct grant_sets grant_sets;
    struct peer peer; // the peer that is being compared
    uint64_t set[];   // a bit for each rule that matches
};

typedef struct parse_error (*parse_fn)(struct slice text, struct rules *rules);

static struct access *access_new(const struct rules *rules)
{
    size_t words = rules->count / SET_WORD_BITS + 1;
    struct access *access = malloc(sizeof *access + words * sizeof *access->set);

    if (access) {
        access->rules = *rules;
        grant_sets_init(&access->grant_sets, &access->rules);
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

static struct access *access_read_with(parse_fn with, const char *path, struct error_text *why)
{
    struct parse_error parse_error = {.line = 0};
    struct access *access = NULL;
    struct small_file file;
    int error = small_file_read(&file, path, ACCESS_FILE_MAX);

    if (error) {
        parse_error.what =
            error == EFBIG ? "the file is longer than 1 MiB" : small_file_error(error);
        access_explain(why, path, &parse_error);
        return NULL;
    }
    access = access_parse_with(with, small_file_text(&file), path, why);
    small_file_free(&file);
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
        grant_sets_clear(&access->grant_sets);
        rules_clear(&access->rules);
        free(access);
    }
}

static void access_clear_set(struct access *access)
{
    memset(access->set, 0, access->grant_sets.words * sizeof *access->set);
}

static void access_add_to_set(struct access *access, size_t rule)
{
    access->set[rule / SET_WORD_BITS] |= (uint64_t)1 << rule % SET_WORD_BITS;
}

struct grants *access_of_peer(struct access *access, const struct access_peer *peer)
{
    peer_init(&access->peer, peer);
    access_clear_set(access);
    for (size_t i = 0; i < access->rules.count; i++) {
        if (who_is_peer(&access->rules.list[i].who, &access->peer)) {
            access_add_to_set(access, i);
        }
    }
    return grant_sets_get(&access->grant_sets, access->set);
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

    return token_digest(text, &digest) ? known_tokens_find(&access->rules.tokens, &digest) : 0;
}

unsigned access_find_token_again(const struct access *access, const struct access *before,
                                 unsigned token)
{
    const struct known_token *known;

    ENSURE(token > 0 && token <= before->rules.tokens.count);
    known =
        known_token_by_digest(&access->rules.tokens, &before->rules.tokens.list[token - 1]->digest);
    return known ? known->number : 0;
}

struct slice access_token_name(const struct access *access, unsigned token)
{
    ENSURE(token > 0 && token <= access->rules.tokens.count);
    return access->rules.tokens.list[token - 1]->name;
}

struct grants *access_of_token(struct access *access, unsigned token)
{
    access_clear_set(access);
    for (size_t i = 0; i < access->rules.count; i++) {
        if (who_is_token(&access->rules.list[i].who, token)) {
            access_add_to_set(access, i);
        }
    }
    return grant_sets_get(&access->grant_sets, access->set);
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
