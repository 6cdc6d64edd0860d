/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_STRING_LIST_H
#define TANDEM_SERVER_CONFIG_STRING_LIST_H

// A list that owns its texts, such as the settings of a command line. It records that memory ran
// out, so that its user checks once, at the end.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>

// Zeroed: empty.
struct string_list {
    char **all;
    size_t count;
    size_t room;        /* private */
    bool out_of_memory; // a text is missing
};

// Appends a text, formatted as by printf().
__attribute__((format(printf, 2, 3))) void string_list_add(struct string_list *list,
                                                           const char *format, ...);

// Appends all texts of `more`, which becomes empty.
void string_list_move(struct string_list *list, struct string_list *more);

void string_list_clear(struct string_list *list);

#endif
