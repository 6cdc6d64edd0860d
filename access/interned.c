/* SPDX-License-Identifier: MIT */
#include "access/interned.h"

#include <stdlib.h>
#include <string.h>

// The number of sets below which no sweep takes place.
#define SWEEP_LEAST 64

struct entry {
    struct hash_node node;
    struct list_node link;
    uint64_t hash;
    struct grants *grants; // a reference
    uint64_t set[];
};

static uint64_t hash_of(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct entry, node)->hash;
}

void interned_init(struct interned *interned, const struct rules *rules)
{
    *interned = (struct interned){
        .rules = rules,
        .words = (rules->count + INTERNED_WORD_BITS - 1) / INTERNED_WORD_BITS,
        .sweep_at = SWEEP_LEAST,
    };
    hash_init(&interned->sets, hash_of);
    list_init(&interned->all);
}

static void entry_free(struct entry *entry)
{
    list_remove(&entry->link);
    grants_unref(entry->grants);
    free(entry);
}

void interned_clear(struct interned *interned)
{
    while (!list_empty(&interned->all)) {
        entry_free(list_item(list_first(&interned->all), struct entry, link));
    }
    hash_clear(&interned->sets);
}

// Frees the sets without users. A sweep takes place when there are twice as many sets as were in
// use after the last one, so its cost for each set that is made is constant.
static void sweep(struct interned *interned)
{
    struct list_node *next;

    for (struct list_node *node = interned->all.next; node != &interned->all; node = next) {
        struct entry *entry = list_item(node, struct entry, link);

        next = node->next;
        if (!grants_shared(entry->grants)) {
            hash_remove(&interned->sets, &entry->node);
            entry_free(entry);
        }
    }
    interned->sweep_at = 2 * hash_count(&interned->sets);
    if (interned->sweep_at < SWEEP_LEAST) {
        interned->sweep_at = SWEEP_LEAST;
    }
}

static bool has(const uint64_t *set, size_t rule)
{
    return set[rule / INTERNED_WORD_BITS] >> rule % INTERNED_WORD_BITS & 1;
}

static struct grants *make_grants(const struct rules *rules, const uint64_t *set)
{
    struct grant *list;
    struct grants *grants;
    size_t count = 0;

    for (size_t i = 0; i < rules->count; i++) {
        count += has(set, i) ? rules->list[i].globs : 0;
    }
    list = malloc((count + 1) * sizeof *list);
    if (!list) {
        return NULL;
    }
    count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->list[i];

        for (size_t j = 0; has(set, i) && j < rule->globs; j++) {
            list[count++] = (struct grant){rule->rights, rules->globs[rule->glob + j]};
        }
    }
    grants = grants_new(list, count);
    free(list);
    return grants;
}

static struct entry *entry_new(struct interned *interned, const uint64_t *set, uint64_t hash)
{
    size_t size = interned->words * sizeof *set;
    struct entry *entry = malloc(sizeof *entry + size);

    if (!entry) {
        return NULL;
    }
    entry->hash = hash;
    memcpy(entry->set, set, size);
    entry->grants = make_grants(interned->rules, set);
    if (!entry->grants) {
        free(entry);
        return NULL;
    }
    return entry;
}

static struct entry *find(const struct interned *interned, const uint64_t *set, uint64_t hash)
{
    struct hash_node *node = hash_first(&interned->sets, hash);

    for (; node; node = node->next) {
        struct entry *entry = container_of(node, struct entry, node);

        if (entry->hash == hash && memcmp(entry->set, set, interned->words * sizeof *set) == 0) {
            return entry;
        }
    }
    return NULL;
}

struct grants *interned_get(struct interned *interned, const uint64_t *set)
{
    struct entry *entry;
    uint64_t hash = 0;

    for (size_t i = 0; i < interned->words; i++) {
        hash = hash_mix(hash ^ set[i]) + i;
    }
    entry = find(interned, set, hash);
    if (entry) {
        return grants_ref(entry->grants);
    }
    if (hash_count(&interned->sets) >= interned->sweep_at) {
        sweep(interned);
    }
    entry = hash_make_room(&interned->sets) ? entry_new(interned, set, hash) : NULL;
    if (!entry) {
        return NULL;
    }
    hash_insert(&interned->sets, &entry->node);
    list_append(&interned->all, &entry->link);
    return grants_ref(entry->grants);
}
