/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_LIST_H
#define TANDEM_HTTP1_LIST_H

// Lists in the configuration: words divided by commas or blanks.

#include "core/base/slice.h"

#include <stdbool.h>

// Takes the next word off the list; false at the end.
bool http1_list_next(struct slice *list, struct slice *word);

// Whether one of the words, in any case, is that text.
bool http1_list_names(const char *list, struct slice text);

#endif
