/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MEMO_PRIVATE_H
#define TANDEM_CORE_MEMO_PRIVATE_H

// Private to the core: the containers of memos (core/memo.h), by kind and key, by kind and number,
// by their ends, and in the order of their records (memo.c), and the changes of memos (memo_set.c).

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/slab.h"
#include "core/base/tree.h"
#include "core/memo.h"
#include "core/timers.h"

struct memo_entry {
    struct memo memo; // slices point behind the struct, or to the blob
    struct hash_node by_key;
    struct tree_node by_number;
    struct timer end;          // by the wall clock
    struct list_node recorded; // in the order in which the store set the marks
    uint64_t hash;
    uint32_t mark;
    char bytes[]; // the key, then a value without a blob
};

struct memos_of_kind {
    struct tree by_number;
    uint64_t most;          // limit in bytes
    memo_share_of share_of; // with `shares`
    uint64_t *shares;       // bytes of each share; NULL: the kind is not shared
    struct memo_usage usage;
};

struct memos {
    struct slab slab;
    struct hash by_key;
    struct tree ends;
    struct memos_of_kind of[MEMO_KINDS];
    struct list_node by_record; // memos that the store has
    uint64_t recorded;
    uint64_t recorded_bytes; // of their keys and values
    uint64_t position;       // of the last record
    uint64_t last;           // number of the newest memo
    bool over_limit;         // a kind is above its limit, and its oldest memos are to be evicted
};

//
// Containers
//

// The memory of a memo in bytes, its blob's included.
size_t memo_footprint(const struct memo *memo);

// The counter of the memo's share; NULL if its kind is not shared.
static inline uint64_t *memo_share(const struct memos_of_kind *of, const struct memo *memo)
{
    unsigned share = of->shares ? of->share_of(memo->value) : 0;

    ENSURE(share < MEMO_SHARES);
    return of->shares ? &of->shares[share] : NULL;
}

bool memo_has_ended(const struct broker *broker, const struct memo *memo);

// The memo of that kind and key, even if it has ended; NULL for none.
struct memo_entry *memo_lookup(const struct broker *broker, enum memo_kind kind, struct slice key);

// A copy that is in no container yet, but for which each has room; NULL without memory.
struct memo_entry *memo_copy(struct broker *broker, const struct memo *memo) MUST_USE;
void memo_free(struct broker *broker, struct memo_entry *entry);

void memo_insert(struct broker *broker, struct memo_entry *entry);
// Takes it out of all containers, and frees it.
void memo_remove(struct broker *broker, struct memo_entry *entry);

// The number of the memo, or a new one if another memo of its kind has that, as a damaged store may
// have it.
uint64_t memo_number_for(struct memos *memos, const struct memo *memo);

void memo_index_init(struct memos *memos);
void memo_index_clear(struct broker *broker);

static inline struct memo_entry *memo_by_number(struct tree_node *node)
{
    return node ? container_of(node, struct memo_entry, by_number) : NULL;
}

//
// Changes
//

void memos_init(struct memos *memos);

// As broker_memo_set(), within a verb.
enum status memo_set(struct broker *broker, const struct memo *memo);

// STATUS_BAD_NAME or STATUS_TOO_LARGE if no memo can be like that.
enum status memo_check(const struct memo *memo) MUST_USE;

// Drops the memo. If the store has it and has no room for the record, the memo is there again after
// a restart.
void memo_forget(struct broker *broker, struct memo_entry *entry);

// The same two for memos that a restart can do without: no answer waits for the record.
enum status memo_set_unawaited(struct broker *broker, const struct memo *memo);
void memo_forget_unawaited(struct broker *broker, struct memo_entry *entry);

// The memo of that timer has ended.
void memo_end(struct broker *broker, struct timer *timer);

// Evicts a slice of the memos of kinds above their limits.
void memos_evict(struct broker *broker);

#endif
