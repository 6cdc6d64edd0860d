/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_LIST_H
#define TANDEM_HTTP1_LIST_H

// Lists in the configuration: words separated by commas or blanks.

#include "core/base/slice.h"

#include <stdbool.h>

// Removes the next word from the list. False: the end.
bool http1_list_next(struct slice *list, struct slice *word);

// Whether the list contains that text, ignoring case.
bool http1_list_names(const char *list, struct slice text);

#endif
