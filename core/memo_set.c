/* SPDX-License-Identifier: MIT */

#include "core/memo_private.h"

#include "core/broker_private.h"
#include "core/record_private.h"

// The memos that are evicted at once for a new one; ticks evict the others.
#define EVICTED_AT_ONCE 16
// The memos that are visited to foresee when there will be room.
#define ROOM_LOOKAHEAD 256

// Kinds that evict the oldest memos, and that the store need not record. Other kinds refuse new
// ones.
static const bool evicts_oldest[MEMO_KINDS] = {[MEMO_RESULT] = true, [MEMO_UNIQUE] = true};

// A policy set while memory is short may free memory: it may have jobs expire. The lease of a
// worker may, too: the worker may finish its job.
static const bool set_while_short[MEMO_KINDS] = {[MEMO_POLICY] = true, [MEMO_LEASE] = true};

void memo_forget(struct broker *broker, struct memo_entry *entry)
{
    if (list_linked(&entry->recorded) &&
        record_memo_has_space(broker, RECORD_FORGET, &entry->memo)) {
        record_memo_append(broker, RECORD_FORGET, &entry->memo);
    }
    memo_remove(broker, entry);
}

// Evicts the oldest until the kind is within its limit. False: the budget did not suffice.
static bool memo_evict_oldest(struct broker *broker, struct memos_of_kind *of, unsigned *budget)
{
    while (of->usage.bytes > of->most) {
        if (*budget == 0) {
            return false;
        }
        --*budget;
        of->usage.evicted++;
        memo_forget(broker, memo_by_number(tree_first(&of->by_number)));
    }
    return true;
}

void memos_evict(struct broker *broker)
{
    unsigned budget = BROKER_SLICE;
    bool done = true;

    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        if (evicts_oldest[kind]) {
            done = memo_evict_oldest(broker, &broker->memos.of[kind], &budget) && done;
        }
    }
    broker->memos.over_limit = !done;
}

enum status memo_check(const struct memo *memo)
{
    if (memo->key.len == 0 || memo->key.len > MEMO_KEY_MAX) {
        return STATUS_BAD_NAME;
    }
    return memo->value.len > MEMO_VALUE_MAX ? STATUS_TOO_LARGE : STATUS_OK;
}

nsec_t broker_memo_room_at(const struct broker *broker, const struct memo *memo)
{
    const struct memos_of_kind *of = &broker->memos.of[memo->kind];
    uint64_t *share = memo_share(of, memo);
    uint64_t wanted = memo_footprint(memo) + (share ? *share : 0);
    uint64_t left = of->usage.bytes < of->most ? of->most - of->usage.bytes : 0;
    nsec_t room_at = broker->now.wall;
    uint64_t cursor = 0;

    for (int i = 0; i < ROOM_LOOKAHEAD && wanted > left; i++) {
        const struct memo *next = broker_memo_next(broker, memo->kind, &cursor);

        if (!next) {
            break;
        }
        room_at = next->until_at;
        left += memo_footprint(next);
        wanted -= share && memo_share(of, next) == share ? memo_footprint(next) : 0;
    }
    return room_at;
}

// True if the kind, and the share, have room for the memo in place of `old`.
static bool memo_has_room(const struct memos_of_kind *of, const struct memo *memo,
                          const struct memo_entry *old)
{
    uint64_t before = old ? memo_footprint(&old->memo) : 0;
    uint64_t used = of->usage.bytes - before;
    uint64_t left = used < of->most ? of->most - used : 0;
    const uint64_t *share = memo_share(of, memo);

    if (share && (!old || memo_share(of, &old->memo) != share)) {
        before = 0;
    }
    return memo_footprint(memo) <= left &&
           (!share || *share - before <= left - memo_footprint(memo));
}

static enum status memo_check_new(const struct broker *broker, const struct memo *memo,
                                  const struct memo_entry *old)
{
    const struct memos_of_kind *of = &broker->memos.of[memo->kind];
    uint64_t bytes = memo_footprint(memo);

    if (memo_check(memo) != STATUS_OK) {
        return memo_check(memo);
    }
    if (bytes > of->most) {
        return STATUS_TOO_LARGE;
    }
    if (!evicts_oldest[memo->kind] && !memo_has_room(of, memo, old)) {
        return of->shares ? STATUS_QUEUE_FULL : STATUS_NO_MEMORY;
    }
    return memory_is_short() && !set_while_short[memo->kind] ? STATUS_NO_MEMORY : STATUS_OK;
}

// Puts the memo in place of the old one, if there is one, and records it if the store has room.
static enum status memo_put(struct broker *broker, struct memo_entry *entry, struct memo_entry *old)
{
    struct memos *memos = &broker->memos;
    bool keeps_place = old && !evicts_oldest[entry->memo.kind];
    bool stored;

    entry->memo.number = keeps_place ? old->memo.number : memos->last + 1;
    stored = record_memo_has_space(broker, RECORD_MEMO, &entry->memo);
    if (!stored && !evicts_oldest[entry->memo.kind]) {
        memo_free(broker, entry);
        return STATUS_NO_SPACE;
    }
    memos->last += !keeps_place;
    if (old) {
        memo_remove(broker, old);
    }
    memo_insert(broker, entry);
    if (stored) {
        record_memo_append(broker, RECORD_MEMO, &entry->memo);
        memos->position = broker->store.position;
    }
    return STATUS_OK;
}

static enum status memo_replace(struct broker *broker, const struct memo *memo,
                                struct memo_entry *old)
{
    struct memos *memos = &broker->memos;
    unsigned budget = EVICTED_AT_ONCE;
    enum status status = memo_check_new(broker, memo, old);
    struct memo_entry *entry;

    if (status != STATUS_OK) {
        return status;
    }
    entry = memo_copy(broker, memo);
    status = entry ? memo_put(broker, entry, old) : STATUS_NO_MEMORY;
    if (evicts_oldest[memo->kind] && !memo_evict_oldest(broker, &memos->of[memo->kind], &budget)) {
        memos->over_limit = true;
    }
    return status;
}

// For a caller that asks for it: refused if the store has no room for the record.
static enum status memo_drop(struct broker *broker, struct memo_entry *entry)
{
    if (list_linked(&entry->recorded) &&
        !record_memo_has_space(broker, RECORD_FORGET, &entry->memo)) {
        return STATUS_NO_SPACE;
    }
    memo_forget(broker, entry);
    return STATUS_OK;
}

enum status memo_set(struct broker *broker, const struct memo *memo)
{
    struct memo_entry *old = memo_lookup(broker, memo->kind, memo->key);
    enum status status = STATUS_OK;

    if (!memo_has_ended(broker, memo)) {
        status = memo_replace(broker, memo, old);
    } else if (old) {
        status = memo_drop(broker, old);
    }
    broker->memos.of[memo->kind].usage.refused += status != STATUS_OK;
    return status;
}

enum status memo_set_unawaited(struct broker *broker, const struct memo *memo)
{
    uint64_t position = broker->store.position;
    enum status status = memo_set(broker, memo);

    broker->store.position = position;
    return status;
}

void memo_forget_unawaited(struct broker *broker, struct memo_entry *entry)
{
    uint64_t position = broker->store.position;

    memo_forget(broker, entry);
    broker->store.position = position;
}

enum status broker_memo_set(struct broker *broker, const struct memo *memo)
{
    ENSURE(!broker->settling);
    broker->store.position = 0;
    return memo_set(broker, memo);
}

enum status broker_memo_drop(struct broker *broker, enum memo_kind kind, struct slice key)
{
    struct memo_entry *entry = memo_lookup(broker, kind, key);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (!entry || memo_has_ended(broker, &entry->memo)) {
        return STATUS_NOT_FOUND;
    }
    return memo_drop(broker, entry);
}

void broker_memo_limit(struct broker *broker, enum memo_kind kind, uint64_t bytes)
{
    struct memos_of_kind *of = &broker->memos.of[kind];

    of->most = bytes;
    if (evicts_oldest[kind] && of->usage.bytes > bytes) {
        broker->memos.over_limit = true;
    }
}

void broker_memo_usage(const struct broker *broker, enum memo_kind kind, struct memo_usage *usage)
{
    *usage = broker->memos.of[kind].usage;
}

void memo_end(struct broker *broker, struct timer *timer)
{
    memo_remove(broker, container_of(timer, struct memo_entry, end));
}

void memos_init(struct memos *memos)
{
    memo_index_init(memos);
    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        memos->of[kind].most = UINT64_MAX;
    }
}
