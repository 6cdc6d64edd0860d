/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_LINE_H
#define TANDEM_ACCESS_LINE_H

// Lines of a file, their words, and the items of a list that is one word. Everything is a slice of
// the text that is handed in.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The longest line, in bytes.
#define LINE_MOST 4096

// A walk over the lines of a text.
struct lines {
    struct slice rest;
    unsigned number; // of the line that was taken last, from 1
};

// Takes the next line, without LF or CR LF; false at the end of the text.
bool lines_next(struct lines *lines, struct slice *line);

// NULL where a line may stand in a file: not too long, and no control characters but tabs.
const char *line_check(struct slice line) MUST_USE;

// Takes the next word off a line, up to a blank or a tab; false where none is left.
bool line_word(struct slice *line, struct slice *word);

// Takes the next item off a list, up to a comma that no \ stands before; false where none is left.
// `*list` begins without an address (NULL) after the last one, so that an empty item is seen.
bool line_item(struct slice *list, struct slice *item);

// Makes each \xHH in a glob a \ and the byte of those two hexadecimal digits, in its place. Returns
// the new length, or len + 1, and changes nothing, where digits are missing.
size_t line_unescape(char *glob, size_t len);

#endif
