/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MEMO_INDEX_H
#define TANDEM_CORE_MEMO_INDEX_H

// Private to the core: memos (core/memo.h) where they are found: by kind and key, by kind and
// number, by the moment at which they end, and by when the store marked them.

#include "core/base/macros.h"
#include "core/memo_set.h"

// Bytes of memory that a memo takes, its blob's included.
size_t memo_takes(const struct memo *memo);

// The bytes of the share that the memo is counted for; NULL where its kind has no shares.
static inline uint64_t *memo_share(const struct memos_of_kind *of, const struct memo *memo)
{
    unsigned share = of->shares ? of->share_of(memo->value) : 0;

    ENSURE(share < MEMO_SHARES);
    return of->shares ? &of->shares[share] : NULL;
}

bool memo_has_ended(const struct broker *broker, const struct memo *memo);

// The memo of that kind and key, though it may have ended; NULL for none.
struct kept_memo *memo_look_up(const struct broker *broker, enum memo_kind kind, struct slice key);

// A copy that is in no container yet, for which there is room in each; NULL without memory.
struct kept_memo *memo_copy(struct broker *broker, const struct memo *memo) MUST_USE;
void memo_free(struct broker *broker, struct kept_memo *kept);

void memo_put_in(struct broker *broker, struct kept_memo *kept);
// Takes it out of all containers, and frees it.
void memo_take_out(struct broker *broker, struct kept_memo *kept);

// The number that the memo has, or a new one where another of its kind has that: in a store that
// was damaged, it may.
uint64_t memo_number_for(struct memos *memos, const struct memo *memo);

void memo_index_init(struct memos *memos);
void memo_index_clear(struct broker *broker);

static inline struct kept_memo *memo_by_number(struct tree_node *node)
{
    return node ? container_of(node, struct kept_memo, by_number) : NULL;
}

#endif
