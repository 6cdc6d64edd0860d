/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_API_LIST_REPLY_H
#define TANDEM_ADMIN_API_LIST_REPLY_H

// A reply with a list of items that have an index, made in slices. An item that is added or removed
// meanwhile may shift others, which then are missing or appear twice.

#include "http1/user.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Sets `*item` to the item with this index, or to NULL if there is no memory; false after the last
// one.
typedef bool list_reply_item(const struct http1_conn *conn, size_t index, json_t **item);

// Answers with `before`, which is copied, the items, and `after`, a literal.
enum http1_next list_reply(struct http1_conn *conn, const char *before, list_reply_item *item,
                           const char *after);

#endif
