/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_LIST_H
#define TANDEM_PROTO_HTTP_LIST_H

// Lists in the configuration: words divided by commas or blanks.

#include "core/base/slice.h"

#include <stdbool.h>

// Takes the next word off the list; false at the end.
bool web_list_next(struct slice *list, struct slice *word);

// Whether one of the words, in any case, is that text.
bool web_list_names(const char *list, struct slice text);

// Whether one of the globs matches the name, which may have any byte but NUL.
bool web_globs_match(const char *globs, struct slice name);

#endif
