/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_TABLE_H
#define TANDEM_CORE_BASE_TABLE_H

// A table that gives each object a 32-bit place. A place takes half the memory of a pointer, and
// all objects can be walked by place while others are added and removed. Places of removed objects
// are used again. Growing adds a page and moves no object.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stdint.h>

#define TABLE_PAGE_BITS 6
#define TABLE_PAGE (1u << TABLE_PAGE_BITS)
#define TABLE_NONE UINT32_MAX

union table_slot {
    void *thing;      // its lowest bit is 0
    uintptr_t vacant; // (next vacant place << 1) | 1
};

struct table {
    union table_slot **pages; /* private */
    uint32_t page_count;      /* private */
    uint32_t page_room;       /* private */
    uint32_t vacant;          /* private: the next place to use; TABLE_NONE: none */
};

void table_init(struct table *table);
void table_clear(struct table *table);

// Ensures that one more object can be added. False: no memory.
bool table_make_room(struct table *table) MUST_USE;

// Adds the object, for which there must be room; returns its place.
uint32_t table_put(struct table *table, void *thing);

void table_remove(struct table *table, uint32_t place);

// The object at a place that is in use.
static inline void *table_get(const struct table *table, uint32_t place)
{
    return table->pages[place >> TABLE_PAGE_BITS][place & (TABLE_PAGE - 1)].thing;
}

// The first object at `*place` or after it, NULL for none; moves `*place` after it.
void *table_next(const struct table *table, uint32_t *place);

#endif
