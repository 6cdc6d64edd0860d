/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_QUEUE_FILTER_H
#define TANDEM_ADMIN_QUEUE_FILTER_H

// Which queues a list shows, and by which column it is sorted: `search`, `name`, `with` and `sort`
// of the query.

#include "core/broker.h"

#include "admin/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct queue_column;

struct queue_filter {
    char search[QUEUE_NAME_MAX + 1];
    char glob[QUERY_VALUE_MAX + 1];
    size_t search_len, glob_len;
    bool has_glob;
    unsigned with; // words, as bits
};

// Reads it; blames what is wrong.
void queue_filter_read(struct queue_filter *filter, struct input *input);

bool queue_fits(const struct queue_filter *filter, const struct queue *queue,
                const struct queue_info *info);

struct queue_sort {
    const struct queue_column *column;
    bool largest_first;
    bool dear; // the column takes much longer to reckon than to read
};

// Reads it; as by name where the query says nothing.
void queue_sort_read(struct queue_sort *sort, struct input *input);

// The queue's value in the column, by which it is sorted. Whatever does not happen to the queue
// does not change it: an age is told as a moment.
uint64_t queue_sort_value(const struct queue_sort *sort, const struct broker *broker,
                          const struct queue *queue, const struct queue_info *info);

#endif
