/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MEMO_H
#define TANDEM_CORE_MEMO_H

// Memos: the data that the broker keeps besides jobs. A memo is a value under a key, of a kind,
// until a moment of the wall clock. Only the module that sets a memo knows the meaning of its
// value; the kind says what happens if memory or the store is short:
//
//   RESULT   the result of a job. The oldest are evicted to make room for a new one.
//   UNIQUE   the job, which is done, of a key. The same.
//   ANSWER   the answer to a request, for the same request made again. Refused without room.
//   POLICY   a policy set at run time. The same, but accepted while memory is short.
//   SCHEDULE a schedule made at run time. Refused without room.
//   FIRED    when a schedule fired last. The same.
//   SECRET   a random number from which keys of other memos are made. The same.
//   IMPORT   the store of another broker that was imported, with its state then and the jobs of it
//            (admin/api/source_memo.h). The same.
//   LEASE    a durable lease (durable_lease.h). As POLICY.
//   RATE     the used part of a queue's rate; it ends when the rate is at rest. As ANSWER.
//
// A memo ends at its moment of the wall clock; if the clock is set, that counts at the next tick. A
// memo that has ended is not found, even if it was not freed yet.
//
// A store records memos: all memos of the kinds that are refused without room. RESULT and UNIQUE
// stay in memory if the store has no room for them, and are missing after a restart.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob;
struct broker;

// In the order of their numbers in a store.
enum memo_kind {
    MEMO_RESULT,
    MEMO_UNIQUE,
    MEMO_ANSWER,
    MEMO_POLICY,
    MEMO_SCHEDULE,
    MEMO_FIRED,
    MEMO_SECRET,
    MEMO_IMPORT,
    MEMO_LEASE,
    MEMO_RATE
};
#define MEMO_KINDS 10

#define MEMO_KEY_MAX 640
#define MEMO_VALUE_MAX ((size_t)16 << 20)

struct memo {
    enum memo_kind kind;
    struct slice key;   // 1 to MEMO_KEY_MAX bytes
    struct slice value; // up to MEMO_VALUE_MAX bytes; those of `blob` if that is not NULL
    struct blob *blob;  // contains a large value, which is then not copied; or NULL
    nsec_t until_at;    // wall clock; NSEC_NEVER: until it is dropped
    uint64_t number;    // older memos have lower ones; broker_memo_set() does not read it
};

// Sets the memo, in place of the memo of that kind and key; it keeps that one's number unless the
// kind evicts the oldest. The bytes are copied; of a blob a reference is taken. Output that depends
// on it waits for broker_position(). STATUS_NO_MEMORY, also if the kind is at its limit,
// STATUS_QUEUE_FULL if the share is, STATUS_NO_SPACE, STATUS_BAD_NAME (the key) and
// STATUS_TOO_LARGE change nothing. A moment in the past drops the old memo and is no error.
enum status broker_memo_set(struct broker *broker, const struct memo *memo) MUST_USE;

// The memo, borrowed until the next tick, set or drop, or the next verb that may end a job; NULL
// for none.
const struct memo *broker_memo_find(const struct broker *broker, enum memo_kind kind,
                                    struct slice key);

// STATUS_NOT_FOUND, STATUS_NO_SPACE.
enum status broker_memo_drop(struct broker *broker, enum memo_kind kind, struct slice key) MUST_USE;

// The next memo of that kind behind `*cursor`, which is the number of the one before, 0 at first,
// and stays valid; NULL for none. Borrowed as above.
const struct memo *broker_memo_next(const struct broker *broker, enum memo_kind kind,
                                    uint64_t *cursor);

// Sets the limit of the memory of all memos of a kind, in bytes; UINT64_MAX, the default: no limit.
// If there are more and the kind evicts the oldest, these are evicted in slices of the next ticks.
void broker_memo_limit(struct broker *broker, enum memo_kind kind, uint64_t bytes);

// Shares the limit of a kind among callers. `share_of` computes the share of a memo, one of
// MEMO_SHARES, from its value, so that it is known after a restart, too; it must accept any value.
// From then on, a share takes at most as many bytes as are free: one caller leaves half of the
// limit to the others, each further one half of the rest. False without memory: nothing has
// changed. The memos of the kind that exist are counted.
#define MEMO_SHARES 1024
typedef unsigned (*memo_share_of)(struct slice value);
bool broker_memo_share(struct broker *broker, enum memo_kind kind, memo_share_of share_of) MUST_USE;

// When there is room for that memo, which was refused because its share is full: by the wall clock,
// if the memos of the kind end in the order in which they came and no others come. If a large
// number has to end, there is no room before that moment.
nsec_t broker_memo_room_at(const struct broker *broker, const struct memo *memo);

struct memo_usage {
    uint64_t count;
    uint64_t bytes;   // as the limit counts them
    uint64_t evicted; // before their ends, for newer memos of the kind
    uint64_t refused; // not set, because of memory, their size or the store
};
void broker_memo_usage(const struct broker *broker, enum memo_kind kind, struct memo_usage *usage);

//
// For the store (record.h)
//

// The number of the place where the store keeps the memo. A memo with a mark is in the store.
uint32_t memo_mark(const struct memo *memo);
void memo_set_mark(struct broker *broker, const struct memo *memo, uint32_t mark);

// The memo whose mark was set first, NULL for none.
const struct memo *broker_memo_oldest(const struct broker *broker);
// The number of memos with a mark, and the bytes of their keys and values.
void broker_memos(const struct broker *broker, uint64_t *count, uint64_t *bytes);

#endif
