/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_WORDS_H
#define TANDEM_SERVER_CONFIG_WORDS_H

// A list of texts that it owns, such as the settings that a command line comes to. That memory has
// run out is remembered, so that whoever fills it asks once, at the end.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>

// Zeroed: empty.
struct words {
    char **all;
    size_t count;
    size_t room;  /* private */
    bool is_torn; // memory ran out, and something is missing
};

// Appends the text, made as printf does.
__attribute__((format(printf, 2, 3))) void words_add(struct words *words, const char *format, ...);

// Appends all of `more`, which is empty then.
void words_move(struct words *words, struct words *more);

void words_clear(struct words *words);

#endif
