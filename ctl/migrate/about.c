/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/about.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/migrate/identity.h"
#include "ctl/migrate/tubes.h"

static bool read_u32(struct slice stats, struct slice key, uint32_t *value)
{
    uint64_t number;

    if (!yaml_count(stats, key, &number) || number > UINT32_MAX) {
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

static bool read_item(const struct migration *migration, struct item *item, struct slice stats)
{
    const struct tube *tube;
    struct slice name;
    uint32_t left = 0;

    if (!yaml_text(stats, SLICE("tube"), &name) ||
        !read_u32(stats, SLICE("pri"), &item->priority) ||
        !read_u32(stats, SLICE("ttr"), &item->ttr)) {
        return false;
    }
    tube = tubes_find(migration->tubes, name);
    if (!tube) {
        return false;
    }
    item->tube = (size_t)(tube - migration->tubes->list);
    item->put_by = identity_put_by(stats);
    if (item->kind == KIND_DELAYED) {
        if (!read_u32(stats, SLICE("time-left"), &left)) {
            return false;
        }
        // Whole seconds are told: what is left is a second more at most, and no job starts early.
        item->delay = left < UINT32_MAX ? left + 1 : left;
    }
    return true;
}

// A ready job is held by this process: where its lease has ended, that is found later.
static bool is_in_state(struct slice stats, enum kind kind)
{
    struct slice state;

    return kind == KIND_READY ||
           (yaml_text(stats, SLICE("state"), &state) &&
            slice_equal(state, kind == KIND_BURIED ? SLICE("buried") : SLICE("delayed")));
}

bool about_ask(struct migration *migration)
{
    struct load *batch = &migration->batch;
    struct slice document;
    bool found;

    for (size_t i = 0; i < batch->count; i++) {
        remote_put(migration->source, "stats-job %llu", (unsigned long long)batch->items[i].from);
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (!remote_reply_document(migration->source, "stats-job", &document, &found)) {
            return false;
        }
        if (!found || !is_in_state(document, item->kind) || !read_item(migration, item, document)) {
            item->from = 0;
        }
    }
    load_pack(batch);
    return true;
}
