/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_QUEUE_PAGE_H
#define TANDEM_ADMIN_QUEUE_PAGE_H

// A page of a filtered, sorted list of however many queues. To find it all queues are looked at, in
// slices, and those are kept that come first behind a cursor. A roll has the queues meanwhile, and
// until the page is not needed any more, so that they may go at any time. The cursor is the value
// and the name of the last queue of the page before, so that the list goes on from there whatever
// has happened to that queue.

#include "core/base/digits.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "admin/queue_filter.h"
#include "admin/queue_pick.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;

struct queue_cursor {
    bool set;
    uint64_t value;
    size_t len;
    char name[QUEUE_NAME_MAX];
};

// All zero at first.
struct queue_page {
    struct broker *broker;
    struct queue_filter filter;
    struct queue_sort sort;
    struct queue_cursor after;
    struct queue_snapshot roll; /* private */
    struct queue_picks picks;   // when all were looked at: the queues of the page in their order
    uint64_t total;             // queues that the caller may observe
    uint64_t matched;           // those of them that fit
    uint64_t behind;            /* private: how many of these stand behind the cursor */
    bool begun;                 /* private */
    bool looked;                // all were looked at
};

// Reads the filter and the order from the query, and the cursor, where it may have one.
void queue_page_read(struct queue_page *page, struct input *input, bool has_cursor);

// Begins to look, for at most so many queues; false without memory.
bool queue_page_begin(struct queue_page *page, struct broker *broker, size_t room) MUST_USE;

// Looks at a slice of the queues, for that caller; not when all were looked at.
void queue_page_look(struct queue_page *page, const struct session *session);

// The queue of the page at that place; NULL: it has gone since.
const struct queue *queue_page_at(const struct queue_page *page, size_t place);

// The cursor of the next page as JSON, in `text` of QUEUE_CURSOR_MAX bytes: a string, or null where
// this page is the last one.
#define QUEUE_CURSOR_MAX (DIGITS_MAX + 2 * QUEUE_NAME_MAX + sizeof "\"-\"")
struct slice queue_page_next(const struct queue_page *page, char *text);

// The page is not needed any more: it may be begun again. It may not have been begun.
void queue_page_end(struct queue_page *page);

// How many bytes it keeps beside its struct.
size_t queue_page_holds(const struct queue_page *page);

#endif
