/* SPDX-License-Identifier: MIT */

// Memos that come back. Nothing is recorded; what is too much goes when all is back.

#include "core/broker_private.h"
#include "core/memo_index.h"
#include "core/memos.h"
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
    struct kept_memo *old = memo_look_up(broker, memo->kind, memo->key);
    bool ended = memo_has_ended(broker, memo);
    enum status status = check(memo);
    struct kept_memo *kept;

    *restored = NULL;
    if (status != STATUS_OK) {
        return status;
    }
    kept = ended ? NULL : memo_copy(broker, memo);
    if (!ended && !kept) {
        return STATUS_NO_MEMORY;
    }
    if (old) {
        memo_take_out(broker, old);
    }
    // One that has ended may come back, if the clock is set back until the next start.
    if (broker->memos.last < memo->number) {
        broker->memos.last = memo->number;
    }
    if (kept) {
        kept->memo.number = memo_number_for(&broker->memos, memo);
        memo_put_in(broker, kept);
        broker->memos.crowded = true;
        *restored = &kept->memo;
    }
    return STATUS_OK;
}

enum status broker_restore_forget(struct broker *broker, enum memo_kind kind, struct slice key)
{
    struct kept_memo *kept = memo_look_up(broker, kind, key);

    if (kept) {
        memo_take_out(broker, kept);
    }
    return kept ? STATUS_OK : STATUS_NOT_FOUND;
}
