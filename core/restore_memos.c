/* SPDX-License-Identifier: MIT */

// Memos that come back. Nothing is recorded; what is too much goes when all is back.

#include "core/broker_private.h"
#include "core/memo_private.h"
#include "core/restore.h"

static enum status check(const struct memo *memo)
{
    // Something comes after the highest number.
    return memo->number > 0 && memo->number < UINT64_C(1) << 62 ? memo_check(memo)
                                                                : STATUS_BAD_NAME;
}

enum status broker_restore_memo(struct broker *broker, const struct memo *memo,
                                const struct memo **restored)
{
    struct memo_entry *old = memo_lookup(broker, memo->kind, memo->key);
    bool ended = memo_has_ended(broker, memo);
    enum status status = check(memo);
    struct memo_entry *kept;

    *restored = NULL;
    if (status != STATUS_OK) {
        return status;
    }
    kept = ended ? NULL : memo_copy(broker, memo);
    if (!ended && !kept) {
        return STATUS_NO_MEMORY;
    }
    if (old) {
        memo_remove(broker, old);
    }
    // One that has ended may come back, if the clock is set back until the next start.
    if (broker->memos.last < memo->number) {
        broker->memos.last = memo->number;
    }
    if (kept) {
        kept->memo.number = memo_number_for(&broker->memos, memo);
        memo_insert(broker, kept);
        broker->memos.over_limit = true;
        *restored = &kept->memo;
    }
    return STATUS_OK;
}

enum status broker_restore_forget(struct broker *broker, enum memo_kind kind, struct slice key)
{
    struct memo_entry *kept = memo_lookup(broker, kind, key);

    if (kept) {
        memo_remove(broker, kept);
    }
    return kept ? STATUS_OK : STATUS_NOT_FOUND;
}
