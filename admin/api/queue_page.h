/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_API_QUEUE_PAGE_H
#define TANDEM_ADMIN_API_QUEUE_PAGE_H

// A page of a filtered and sorted list of any number of queues. To find it, a walk visits all
// queues in slices, and a heap keeps the first ones after the cursor. A snapshot of the broker
// keeps the queues valid until the page ends, so that they may be removed at any time. The cursor
// is the value and the name of the last queue of the previous page, so the list continues there
// whatever has happened to that queue.

#include "core/base/digits.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "admin/request/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_column;

// The query parameters `search`, `name` and `with`.
struct queue_filter {
    char search[QUEUE_NAME_MAX + 1];
    char glob[QUERY_VALUE_MAX + 1];
    size_t search_len, glob_len;
    bool has_glob;
    unsigned with; // conditions, as bits
};

// The query parameter `sort`.
struct queue_sort {
    const struct queue_column *column;
    bool largest_first;
    bool expensive; // computing the column takes much longer than reading a number
};

struct queue_cursor {
    bool set;
    uint64_t value;
    size_t len;
    char name[QUEUE_NAME_MAX];
};

struct queue_entry {
    const struct queue *queue;
    uint64_t value; // of the sort column; 0 if that is the name
};

// The first entries in sort order; equal values are sorted by name.
struct queue_top {
    struct queue_entry *all; // owned; a heap with the last one on top, until it is sorted
    size_t count, room;
    bool largest_first;
};

// All zero at first.
struct queue_page {
    struct broker *broker;
    struct queue_filter filter;
    struct queue_sort sort;
    struct queue_cursor after;
    struct queue_snapshot snapshot; /* private */
    struct queue_top top;           // if `complete`: the queues of the page in sort order
    uint64_t total;                 // queues that the caller may observe
    uint64_t matched;               // queues among them that match the filter
    uint64_t remaining;             /* private: of these, the number after the cursor */
    bool begun;                     /* private */
    bool complete;                  // all queues were visited
};

// Reads the filter and the sort order from the query, and the cursor if `has_cursor`.
void queue_page_read(struct queue_page *page, struct input *input, bool has_cursor);

// Begins the walk, for at most `room` queues; false if there is no memory.
bool queue_page_begin(struct queue_page *page, struct broker *broker, size_t room) MUST_USE;

// Visits a slice of the queues on behalf of the caller. The page must not be complete.
void queue_page_step(struct queue_page *page, const struct session *session);

// The queue of the page at this index; NULL if it was removed since.
const struct queue *queue_page_at(const struct queue_page *page, size_t index);

// Writes the cursor of the next page as JSON to `text` of QUEUE_CURSOR_MAX bytes: a string, or null
// if this page is the last one.
#define QUEUE_CURSOR_MAX (DIGITS_MAX + 2 * QUEUE_NAME_MAX + sizeof "\"-\"")
struct slice queue_page_next(const struct queue_page *page, char *text);

// Ends the page, which may be begun again. Does nothing if it was not begun.
void queue_page_end(struct queue_page *page);

// The memory of the page in bytes, without the struct.
size_t queue_page_holds(const struct queue_page *page);

#endif
