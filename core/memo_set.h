/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MEMO_SET_H
#define TANDEM_CORE_MEMO_SET_H

// Private to the core: all memos (core/memo.h), as the broker keeps them. How they are found:
// memo_index.h; what is done with them: memos.h.

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/slab.h"
#include "core/base/tree.h"
#include "core/memo.h"
#include "core/moment.h"

struct kept_memo {
    struct memo memo; // slices point behind the struct, or to the blob
    struct hash_node by_key;
    struct tree_node by_number;
    struct moment end;         // by the wall clock
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
    bool crowded;            // some kind takes more than it may, and the oldest of it are to go
};

#endif
