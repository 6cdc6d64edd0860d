/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_LIST_MAKER_H
#define TANDEM_ADMIN_LIST_MAKER_H

// Answers with a list of what the process shows by its place in some order (sight.h), some in each
// slice. What comes or goes meanwhile may make others be left out, or come twice.

#include "http1/user.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// What is at that place, in `*shown`, NULL there without memory; false behind the last one.
typedef bool list_maker_item(const struct http1_conn *conn, size_t index, json_t **shown);

// The answer: `before`, which is copied, then what the places have, and then `after`, a literal.
enum http1_next list_maker_answer(struct http1_conn *conn, const char *before,
                                  list_maker_item *item, const char *after);

#endif
