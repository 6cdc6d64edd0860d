/* SPDX-License-Identifier: MIT */
#include "core/base/blob.h"
#include "core/broker_private.h"
#include "core/memo_index.h"
#include "core/check_private.h"

struct memos_seen {
    enum memo_kind kind;
    uint64_t count, bytes;
    uint64_t before; // number of the one before
    uint64_t recorded, recorded_bytes;
};

static void visit_memo(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct kept_memo *kept = memo_by_number((struct tree_node *)(uintptr_t)node);
    const struct memo *memo = &kept->memo;
    struct memos_seen *seen = context;

    ENSURE(memo->kind == seen->kind && memo->number > seen->before);
    ENSURE(memo->number <= tally->broker->memos.last);
    ENSURE(memo->key.len > 0 && memo->key.ptr == kept->bytes && kept->end.at == memo->until_at);
    ENSURE(memo->value.ptr ==
           (memo->blob ? memo->blob->bytes : (const char *)kept->bytes + memo->key.len));
    seen->before = memo->number;
    seen->count++;
    seen->bytes += memo_takes(memo);
    tally->memos++;
    tally->memo_ends += memo->until_at != NSEC_NEVER;
    if (list_linked(&kept->recorded)) {
        seen->recorded++;
        seen->recorded_bytes += memo->key.len + memo->value.len;
    }
}

void check_memos(struct tally *tally)
{
    const struct memos *memos = &tally->broker->memos;

    struct memos_seen seen = {.recorded = 0};

    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        const struct memos_of_kind *of = &memos->of[kind];

        seen = (struct memos_seen){.kind = (enum memo_kind)kind,
                                   .recorded = seen.recorded,
                                   .recorded_bytes = seen.recorded_bytes};
        check_tree(&of->by_number, tally, visit_memo, &seen);
        ENSURE(of->usage.count == seen.count && of->usage.bytes == seen.bytes);
    }
    ENSURE(hash_count(&memos->by_key) == tally->memos);
    ENSURE(memos->recorded == seen.recorded && memos->recorded_bytes == seen.recorded_bytes &&
           memos->recorded == check_list(&memos->by_record));
}
