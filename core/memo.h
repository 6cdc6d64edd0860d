/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MEMO_H
#define TANDEM_CORE_MEMO_H

// Memos: what the broker remembers besides jobs. A memo is some bytes under a key, of a kind, until
// a moment of the wall clock. What the bytes mean is for those who set them; the kind says what
// happens where memory or the store is short:
//
//   RESULT   what a job ended with. The oldest go where there is no room for a new one.
//   UNIQUE   which job a key stood for that is done. The same.
//   ANSWER   what a request was answered, for the same request made again. Refused without room.
//   POLICY   what was said of queues at run time. The same, but it is taken where memory is short.
//   SCHEDULE a schedule that was made at run time. The same.
//   FIRED    when a schedule fired last. The same.
//   SECRET   a random number that keys of other memos are made with. The same.
//   IMPORT   which store of another broker was brought in, and as it was then, and which of its
//            jobs (admin/source_memo.h). The same.
//   LEASE    who has a job (durable_lease.h). As of a POLICY.
//   RATE     what the rate of a queue has used, which is at rest when it ends. As of an ANSWER.
//
// A memo ends when the wall clock says so; the clock may be set, and is obeyed at the next tick.
// One that has ended is not found, even if it was not freed yet.
//
// A store keeps memos: all those that are refused without room. RESULT and UNIQUE stay in memory
// where it has no room for them, and are not there after a restart.

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
    struct slice value; // up to MEMO_VALUE_MAX bytes; those of `blob` where that is not NULL
    struct blob *blob;  // what a large value is in, so that it need not be copied; or NULL
    nsec_t until_at;    // wall clock; NSEC_NEVER: until it is dropped
    uint64_t number;    // memos that came first have lower ones; not looked at by broker_memo_set()
};

// Remembers that, in place of the memo of that kind and key, whose number it keeps where it is not
// the oldest that go. The bytes are copied, of a blob a reference is taken. What is to depend on it
// waits for broker_position(). STATUS_NO_MEMORY, also where the kind may take no more bytes,
// STATUS_QUEUE_FULL where that is so for the share, STATUS_NO_SPACE, STATUS_BAD_NAME (no such key)
// and STATUS_TOO_LARGE leave things as they were. A moment that has passed is no fault: what stood
// there is forgotten.
enum status broker_memo_set(struct broker *broker, const struct memo *memo) MUST_USE;

// The memo, borrowed until the next tick, set or drop, or the next verb that may end a job; NULL
// for none.
const struct memo *broker_memo_find(const struct broker *broker, enum memo_kind kind,
                                    struct slice key);

// Forgets it. STATUS_NOT_FOUND, STATUS_NO_SPACE.
enum status broker_memo_drop(struct broker *broker, enum memo_kind kind, struct slice key) MUST_USE;

// The next memo of that kind behind `*cursor`, which is the number of the one before and 0 at
// first; NULL for none. A cursor may be kept for as long as one likes. Borrowed as above.
const struct memo *broker_memo_next(const struct broker *broker, enum memo_kind kind,
                                    uint64_t *cursor);

// How many bytes memos of a kind may take, each with all that it needs in memory; UINT64_MAX, as at
// first: as many as there are. Where there are more, the oldest go in slices of the ticks to come,
// if that is how the kind is.
void broker_memo_limit(struct broker *broker, enum memo_kind kind, uint64_t bytes);

// Of a kind whose memos are set for several callers: which of MEMO_SHARES shares a memo is counted
// for, which its value says, so that it is known after a restart, too. From then on a share takes
// at most as many bytes as are free of what the kind may take: one caller leaves half of it to the
// others, each further one half of what is left. False without memory, as before then. `share_of`
// must accept any value, and answer less than MEMO_SHARES. All memos of the kind are counted anew.
#define MEMO_SHARES 1024
typedef unsigned (*memo_share_of)(struct slice value);
bool broker_memo_share(struct broker *broker, enum memo_kind kind, memo_share_of share_of) MUST_USE;

// When there is room for that memo, which was refused since its share is full: by the wall clock,
// where the memos of the kind end in the order in which they came and no others come. Where many
// have to end, the moment is one before which there is no room.
nsec_t broker_memo_room_at(const struct broker *broker, const struct memo *memo);

struct memo_usage {
    uint64_t count;
    uint64_t bytes;   // as the limit counts them
    uint64_t evicted; // memos that went before their time, for others of their kind
    uint64_t refused; // that could not be set, for memory, their size or the store
};
void broker_memo_usage(const struct broker *broker, enum memo_kind kind, struct memo_usage *usage);

//
// For the store (record.h)
//

// The number of what the store keeps the memo in. A memo that is marked is one that the store has.
uint32_t memo_mark(const struct memo *memo);
void memo_set_mark(struct broker *broker, const struct memo *memo, uint32_t mark);

// The memo that was marked longest ago, NULL for none.
const struct memo *broker_memo_oldest(const struct broker *broker);
// How many memos are marked, and the bytes of their keys and values.
void broker_memos(const struct broker *broker, uint64_t *count, uint64_t *bytes);

#endif
