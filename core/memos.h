/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MEMOS_H
#define TANDEM_CORE_MEMOS_H

// Private to the core: how memos (core/memo.h) come and go.

#include "core/memo_set.h"

// As broker_memo_set(), from within a verb.
enum status memo_set(struct broker *broker, const struct memo *memo);

// Whether there can be such a memo: STATUS_BAD_NAME, STATUS_TOO_LARGE.
enum status memo_check(const struct memo *memo) MUST_USE;

// Drops it. The store is told, if it has it and there is room for that; where there is none, the
// memo is there again after a restart.
void memo_forget(struct broker *broker, struct kept_memo *kept);

// The same two where no answer waits for the record, as of what a restart may do without.
enum status memo_set_unawaited(struct broker *broker, const struct memo *memo);
void memo_forget_unawaited(struct broker *broker, struct kept_memo *kept);

// A memo whose moment has come.
void memo_end(struct broker *broker, struct moment *moment);

// Drops a slice of those that are too many.
void memos_make_way(struct broker *broker);

void memos_init(struct memos *memos);

#endif
