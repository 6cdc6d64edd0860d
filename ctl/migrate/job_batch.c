/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/job_batch.h"

#include "ctl/print/need.h"

void job_batch_clear(struct job_batch *batch)
{
    batch->count = 0;
    // After large bodies, their memory is freed.
    if (batch->bodies.capacity > BATCH_BYTES_MAX) {
        text_free(&batch->bodies);
        batch->bodies = (struct text){0};
    }
    text_cut(&batch->bodies, 0);
}

void job_batch_free(struct job_batch *batch)
{
    free(batch->items);
    text_free(&batch->bodies);
    *batch = (struct job_batch){0};
}

struct item *job_batch_add(struct job_batch *batch, uint64_t from, enum kind kind)
{
    struct item *item;

    if (batch->count == batch->capacity) {
        batch->capacity = batch->capacity ? batch->capacity * 2 : 64;
        batch->items = need(reallocarray(batch->items, batch->capacity, sizeof *batch->items));
    }
    item = &batch->items[batch->count++];
    *item = (struct item){.from = from, .kind = kind};
    return item;
}

void job_batch_set_body(struct job_batch *batch, struct item *item, struct slice body)
{
    item->body_at = batch->bodies.len;
    item->body_len = body.len;
    text_add(&batch->bodies, body);
}

struct slice job_batch_body(const struct job_batch *batch, const struct item *item)
{
    return slice_of(item->body_len ? batch->bodies.data + item->body_at : NULL, item->body_len);
}

void job_batch_pack(struct job_batch *batch)
{
    size_t kept = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].from != 0) {
            batch->items[kept++] = batch->items[i];
        }
    }
    batch->count = kept;
}
