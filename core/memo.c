/* SPDX-License-Identifier: MIT */

#include "core/memo_private.h"

#include "core/base/blob.h"
#include "core/base/memory.h"
#include "core/broker_private.h"

// A longer value is put into a blob, so that a store need not copy it.
#define COPIED_MAX ((size_t)2048)

static uint64_t memo_hash_of(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct memo_entry, by_key)->hash;
}

static uint64_t memo_hash_key(const struct broker *broker, enum memo_kind kind, struct slice key)
{
    return siphash(&broker->key, key.ptr, key.len) ^ hash_mix((uint64_t)kind + 1);
}

static bool memo_number_before(const struct tree_node *a, const struct tree_node *b)
{
    return memo_by_number((struct tree_node *)(uintptr_t)a)->memo.number <
           memo_by_number((struct tree_node *)(uintptr_t)b)->memo.number;
}

static bool memo_value_in_blob(const struct memo *memo)
{
    return memo->blob || memo->value.len > COPIED_MAX;
}

static size_t memo_block_len(const struct memo *memo)
{
    return sizeof(struct memo_entry) + memo->key.len +
           (memo_value_in_blob(memo) ? 0 : memo->value.len);
}

size_t memo_footprint(const struct memo *memo)
{
    return memo_block_len(memo) +
           (memo_value_in_blob(memo) ? sizeof *memo->blob + memo->value.len : 0);
}

bool memo_has_ended(const struct broker *broker, const struct memo *memo)
{
    return memo->until_at <= broker->now.wall;
}

struct memo_entry *memo_lookup(const struct broker *broker, enum memo_kind kind, struct slice key)
{
    uint64_t hash = memo_hash_key(broker, kind, key);
    struct hash_node *node = hash_first(&broker->memos.by_key, hash);

    for (; node; node = node->next) {
        struct memo_entry *entry = container_of(node, struct memo_entry, by_key);

        if (entry->hash == hash && entry->memo.kind == kind && slice_equal(entry->memo.key, key)) {
            return entry;
        }
    }
    return NULL;
}

void memo_free(struct broker *broker, struct memo_entry *entry)
{
    size_t len = memo_block_len(&entry->memo);

    blob_unref(entry->memo.blob);
    slab_free(&broker->memos.slab, entry, len);
}

// NULL without memory. `blob` contains the value, or is NULL.
static struct memo_entry *memo_copy_into(struct broker *broker, const struct memo *memo,
                                         struct blob *blob)
{
    struct memo copy = *memo;
    struct memo_entry *entry;

    copy.blob = blob;
    entry = slab_alloc(&broker->memos.slab, memo_block_len(&copy));
    if (!entry) {
        return NULL;
    }
    *entry = (struct memo_entry){
        .memo = copy,
        .hash = memo_hash_key(broker, memo->kind, memo->key),
        .end.at = NSEC_NEVER,
    };
    list_init(&entry->recorded);
    memcpy(entry->bytes, memo->key.ptr, memo->key.len);
    entry->memo.key.ptr = entry->bytes;
    if (blob) {
        entry->memo.value = blob_slice(blob);
    } else {
        entry->memo.value.ptr = entry->bytes + memo->key.len;
        if (memo->value.len > 0) {
            memcpy(entry->bytes + memo->key.len, memo->value.ptr, memo->value.len);
        }
    }
    return entry;
}

struct memo_entry *memo_copy(struct broker *broker, const struct memo *memo)
{
    struct blob *blob = NULL;
    struct memo_entry *entry = NULL;

    if (!hash_make_room(&broker->memos.by_key)) {
        return NULL;
    }
    if (memo_value_in_blob(memo)) {
        blob = memo->blob ? blob_ref(memo->blob) : blob_copy(memo->value);
    }
    if (blob || !memo_value_in_blob(memo)) {
        entry = memo_copy_into(broker, memo, blob);
    }
    if (!entry) {
        blob_unref(blob);
    }
    return entry;
}

static void memo_count_share(struct memos_of_kind *of, const struct memo *memo, bool added)
{
    uint64_t *share = memo_share(of, memo);

    if (share) {
        *share += added ? memo_footprint(memo) : 0 - (uint64_t)memo_footprint(memo);
    }
}

bool broker_memo_share(struct broker *broker, enum memo_kind kind, memo_share_of share_of)
{
    struct memos_of_kind *of = &broker->memos.of[kind];

    if (!of->shares) {
        of->shares = memory_alloc_of(MEMORY_MEMOS, MEMO_SHARES * sizeof *of->shares);
    }
    if (!of->shares) {
        return false;
    }
    of->share_of = share_of;
    memset(of->shares, 0, MEMO_SHARES * sizeof *of->shares);
    for (struct tree_node *node = tree_first(&of->by_number); node;
         node = tree_after(&of->by_number, node, memo_number_before)) {
        memo_count_share(of, &memo_by_number(node)->memo, true);
    }
    return true;
}

void memo_insert(struct broker *broker, struct memo_entry *entry)
{
    struct memos *memos = &broker->memos;
    struct memos_of_kind *of = &memos->of[entry->memo.kind];

    hash_insert(&memos->by_key, &entry->by_key);
    tree_insert(&of->by_number, &entry->by_number, memo_number_before);
    timer_set(&memos->ends, &entry->end, entry->memo.until_at, entry->memo.number);
    of->usage.count++;
    of->usage.bytes += memo_footprint(&entry->memo);
    memo_count_share(of, &entry->memo, true);
    broker->rare = true;
}

void memo_remove(struct broker *broker, struct memo_entry *entry)
{
    struct memos *memos = &broker->memos;
    struct memos_of_kind *of = &memos->of[entry->memo.kind];

    hash_remove(&memos->by_key, &entry->by_key);
    tree_remove(&of->by_number, &entry->by_number, memo_number_before);
    timer_set(&memos->ends, &entry->end, NSEC_NEVER, 0);
    if (list_linked(&entry->recorded)) {
        list_remove(&entry->recorded);
        memos->recorded--;
        memos->recorded_bytes -= entry->memo.key.len + entry->memo.value.len;
    }
    of->usage.count--;
    of->usage.bytes -= memo_footprint(&entry->memo);
    memo_count_share(of, &entry->memo, false);
    memo_free(broker, entry);
}

const struct memo *broker_memo_find(const struct broker *broker, enum memo_kind kind,
                                    struct slice key)
{
    const struct memo_entry *entry = memo_lookup(broker, kind, key);

    return entry && !memo_has_ended(broker, &entry->memo) ? &entry->memo : NULL;
}

const struct memo *broker_memo_next(const struct broker *broker, enum memo_kind kind,
                                    uint64_t *cursor)
{
    struct memo_entry probe = {.memo.number = *cursor};
    const struct memo_entry *entry;

    do {
        entry = memo_by_number(
            tree_after(&broker->memos.of[kind].by_number, &probe.by_number, memo_number_before));
        probe.memo.number = entry ? entry->memo.number : *cursor;
    } while (entry && memo_has_ended(broker, &entry->memo));
    *cursor = probe.memo.number;
    return entry ? &entry->memo : NULL;
}

uint64_t memo_number_for(struct memos *memos, const struct memo *memo)
{
    const struct memo_entry probe = {.memo.number = memo->number - 1};
    const struct memo_entry *next = memo_by_number(
        tree_after(&memos->of[memo->kind].by_number, &probe.by_number, memo_number_before));

    return next && next->memo.number == memo->number ? ++memos->last : memo->number;
}

static struct memo_entry *memo_entry_of(const struct memo *memo)
{
    return container_of((struct memo *)(uintptr_t)memo, struct memo_entry, memo);
}

uint32_t memo_mark(const struct memo *memo)
{
    return memo_entry_of(memo)->mark;
}

void memo_set_mark(struct broker *broker, const struct memo *memo, uint32_t mark)
{
    struct memos *memos = &broker->memos;
    struct memo_entry *entry = memo_entry_of(memo);

    entry->mark = mark;
    if (list_linked(&entry->recorded)) {
        list_remove(&entry->recorded);
    } else {
        memos->recorded++;
        memos->recorded_bytes += memo->key.len + memo->value.len;
    }
    list_append(&memos->by_record, &entry->recorded);
}

const struct memo *broker_memo_oldest(const struct broker *broker)
{
    struct list_node *first = list_first(&broker->memos.by_record);

    return first ? &list_item(first, struct memo_entry, recorded)->memo : NULL;
}

void broker_memos(const struct broker *broker, uint64_t *count, uint64_t *bytes)
{
    *count = broker->memos.recorded;
    *bytes = broker->memos.recorded_bytes;
}

void memo_index_init(struct memos *memos)
{
    slab_init(&memos->slab);
    memos->slab.kind = MEMORY_MEMOS;
    list_init(&memos->by_record);
    hash_init(&memos->by_key, memo_hash_of);
}

void memo_index_clear(struct broker *broker)
{
    struct memos *memos = &broker->memos;

    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        struct tree *all = &memos->of[kind].by_number;

        while (tree_first(all)) {
            memo_remove(broker, memo_by_number(tree_first(all)));
        }
        memory_free_of(MEMORY_MEMOS, memos->of[kind].shares,
                       MEMO_SHARES * sizeof *memos->of[kind].shares);
        memos->of[kind].shares = NULL;
    }
    hash_clear(&memos->by_key);
    slab_clear(&memos->slab);
}
