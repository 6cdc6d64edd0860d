/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_TABLE_H
#define TANDEM_CORE_BASE_TABLE_H

// Numbers for things: a thing that is put in gets the lowest kind of name there is, a 32-bit place,
// which costs those who refer to it half of what a pointer costs, and by which all things can be
// walked while others come and go. Places of things that left are given out again. Growing adds a
// page and moves nothing.

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
    uint32_t vacant;          /* private: the place to give out next, TABLE_NONE for none */
};

void table_init(struct table *table);
void table_clear(struct table *table);

// Sees to it that one more thing can be put in. False without memory.
bool table_make_room(struct table *table) MUST_USE;

// Puts the thing in, for which there must be room; returns its place.
uint32_t table_put(struct table *table, void *thing);

void table_remove(struct table *table, uint32_t place);

// The thing at a place that is taken.
static inline void *table_get(const struct table *table, uint32_t place)
{
    return table->pages[place >> TABLE_PAGE_BITS][place & (TABLE_PAGE - 1)].thing;
}

// The first thing at `*place` or after it, NULL for none; moves `*place` behind it.
void *table_next(const struct table *table, uint32_t *place);

#endif
