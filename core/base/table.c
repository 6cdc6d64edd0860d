/* SPDX-License-Identifier: MIT */
#include "core/base/table.h"

#include "core/base/memory.h"

#define PAGE_SIZE (TABLE_PAGE * sizeof(union table_slot))

static union table_slot *table_slot_at(const struct table *table, uint32_t place)
{
    return &table->pages[place >> TABLE_PAGE_BITS][place & (TABLE_PAGE - 1)];
}

static uintptr_t table_vacant_mark(uint32_t next)
{
    return ((uintptr_t)next << 1) | 1;
}

void table_init(struct table *table)
{
    *table = (struct table){.vacant = TABLE_NONE};
}

void table_clear(struct table *table)
{
    for (uint32_t i = 0; i < table->page_count; i++) {
        memory_free_of(MEMORY_INDEXES, table->pages[i], PAGE_SIZE);
    }
    memory_free_of(MEMORY_INDEXES, table->pages, table->page_room * sizeof *table->pages);
    table_init(table);
}

// Doubles the directory, which is 64 times smaller than the pages.
static bool table_grow_directory(struct table *table)
{
    uint32_t room = table->page_room ? table->page_room * 2 : 4;
    union table_slot **pages = memory_resize_of(
        MEMORY_INDEXES, table->pages, table->page_room * sizeof *pages, room * sizeof *pages);

    if (!pages) {
        return false;
    }
    table->pages = pages;
    table->page_room = room;
    return true;
}

bool table_make_room(struct table *table)
{
    union table_slot *page;
    uint32_t first = table->page_count << TABLE_PAGE_BITS;

    if (table->vacant != TABLE_NONE) {
        return true;
    }
    if (first >= TABLE_NONE - TABLE_PAGE ||
        (table->page_count == table->page_room && !table_grow_directory(table))) {
        return false;
    }
    page = memory_alloc_of(MEMORY_INDEXES, PAGE_SIZE);
    if (!page) {
        return false;
    }
    for (uint32_t i = 0; i < TABLE_PAGE; i++) {
        page[i].vacant = table_vacant_mark(i + 1 < TABLE_PAGE ? first + i + 1 : TABLE_NONE);
    }
    table->pages[table->page_count++] = page;
    table->vacant = first;
    return true;
}

uint32_t table_put(struct table *table, void *thing)
{
    uint32_t place = table->vacant;
    union table_slot *slot;

    ENSURE(place != TABLE_NONE);
    slot = table_slot_at(table, place);
    table->vacant = (uint32_t)(slot->vacant >> 1);
    slot->thing = thing;
    return place;
}

void table_remove(struct table *table, uint32_t place)
{
    table_slot_at(table, place)->vacant = table_vacant_mark(table->vacant);
    table->vacant = place;
}

void *table_next(const struct table *table, uint32_t *place)
{
    for (; *place >> TABLE_PAGE_BITS < table->page_count; ++*place) {
        union table_slot *slot = table_slot_at(table, *place);

        if (!(slot->vacant & 1)) {
            ++*place;
            return slot->thing;
        }
    }
    return NULL;
}
