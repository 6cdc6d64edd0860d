/* SPDX-License-Identifier: MIT */
#include "proto_common/output_span.h"

struct output_span *span_from_slab(struct output_pool *pool)
{
    if (!pool->begun) {
        slab_init(&pool->slab);
        pool->slab.kind = MEMORY_OUTPUT;
        pool->begun = true;
    }
    return slab_alloc(&pool->slab, sizeof(struct output_span));
}

void span_to_slab(struct output_pool *pool, struct output_span *span)
{
    slab_free(&pool->slab, span, sizeof *span);
}

void output_pool_clear(struct output_pool *pool)
{
    while (pool->free) {
        struct output_span *span = pool->free;

        pool->free = span->next;
        span_to_slab(pool, span);
    }
    pool->kept = 0;
    if (pool->begun) {
        slab_clear(&pool->slab);
        pool->begun = false;
    }
}
