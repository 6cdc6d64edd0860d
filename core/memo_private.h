/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MEMO_PRIVATE_H
#define TANDEM_CORE_MEMO_PRIVATE_H

// Private to the core: all memos (core/memo.h), as the broker keeps them. How they are found:
// memo_private.h; what is done with them: memo_private.h.

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
    struct list_node recorded; // in the order in which the store marked them
    uint64_t hash;
    uint32_t mark;
    char bytes[]; // the key, then a value that is in no blob
};

struct memos_of_kind {
    struct tree by_number;
    uint64_t most;          // bytes that they may take
    memo_share_of share_of; // with `shares`
    uint64_t *shares;       // bytes that they take, of each share; NULL: there are none
    struct memo_usage usage;
};

struct memos {
    struct slab slab;
    struct hash by_key;
    struct tree ends;
    struct memos_of_kind of[MEMO_KINDS];
    struct list_node by_record; // those that the store has
    uint64_t recorded;
    uint64_t recorded_bytes; // of their keys and values
    uint64_t position;       // of the record that was appended last
    uint64_t last;           // number of the memo that came last
    bool over_limit;         // some kind takes more than it may, and the oldest of it are to go
};

// Private to the core: memos (core/memo.h) where they are found: by kind and key, by kind and
// number, by the moment at which they end, and by when the store marked them.

// Bytes of memory that a memo takes, its blob's included.
size_t memo_footprint(const struct memo *memo);

// The bytes of the share that the memo is counted for; NULL where its kind has no shares.
static inline uint64_t *memo_share(const struct memos_of_kind *of, const struct memo *memo)
{
    unsigned share = of->shares ? of->share_of(memo->value) : 0;

    ENSURE(share < MEMO_SHARES);
    return of->shares ? &of->shares[share] : NULL;
}

bool memo_has_ended(const struct broker *broker, const struct memo *memo);

// The memo of that kind and key, though it may have ended; NULL for none.
struct memo_entry *memo_lookup(const struct broker *broker, enum memo_kind kind, struct slice key);

// A copy that is in no container yet, for which there is room in each; NULL without memory.
struct memo_entry *memo_copy(struct broker *broker, const struct memo *memo) MUST_USE;
void memo_free(struct broker *broker, struct memo_entry *kept);

void memo_insert(struct broker *broker, struct memo_entry *kept);
// Takes it out of all containers, and frees it.
void memo_remove(struct broker *broker, struct memo_entry *kept);

// The number that the memo has, or a new one where another of its kind has that: in a store that
// was damaged, it may.
uint64_t memo_number_for(struct memos *memos, const struct memo *memo);

void memo_index_init(struct memos *memos);
void memo_index_clear(struct broker *broker);

static inline struct memo_entry *memo_by_number(struct tree_node *node)
{
    return node ? container_of(node, struct memo_entry, by_number) : NULL;
}

// Private to the core: how memos (core/memo.h) come and go.

// As broker_memo_set(), from within a verb.
enum status memo_set(struct broker *broker, const struct memo *memo);

// Whether there can be such a memo: STATUS_BAD_NAME, STATUS_TOO_LARGE.
enum status memo_check(const struct memo *memo) MUST_USE;

// Drops it. The store is told, if it has it and there is room for that; where there is none, the
// memo is there again after a restart.
void memo_forget(struct broker *broker, struct memo_entry *kept);

// The same two where no answer waits for the record, as of what a restart may do without.
enum status memo_set_unawaited(struct broker *broker, const struct memo *memo);
void memo_forget_unawaited(struct broker *broker, struct memo_entry *kept);

// A memo whose moment has come.
void memo_end(struct broker *broker, struct timer *moment);

// Drops a slice of those that are too many.
void memos_evict(struct broker *broker);

void memos_init(struct memos *memos);

#endif
