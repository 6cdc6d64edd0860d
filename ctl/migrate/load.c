/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/load.h"

#include "ctl/print/need.h"

void load_clear(struct load *batch)
{
    batch->count = 0;
    // Once large bodies have passed, their room is given back.
    if (batch->bodies.capacity > LOAD_BYTES_MAX) {
        text_free(&batch->bodies);
        batch->bodies = (struct text){0};
    }
    text_cut(&batch->bodies, 0);
}

void load_free(struct load *batch)
{
    free(batch->items);
    text_free(&batch->bodies);
    *batch = (struct load){0};
}

struct item *load_add(struct load *batch, uint64_t from, enum kind kind)
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

void load_set_body(struct load *batch, struct item *item, struct slice body)
{
    item->body_at = batch->bodies.len;
    item->body_len = body.len;
    text_add(&batch->bodies, body);
}

struct slice load_body(const struct load *batch, const struct item *item)
{
    return slice_of(item->body_len ? batch->bodies.data + item->body_at : NULL, item->body_len);
}

void load_pack(struct load *batch)
{
    size_t kept = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].from != 0) {
            batch->items[kept++] = batch->items[i];
        }
    }
    batch->count = kept;
}
