/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_LINE_H
#define TANDEM_ACCESS_LINE_H

// The lines of a file, the words of a line, and the items of a word that is a list. All results are
// slices of the text.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// The maximum length of a line, in bytes.
#define LINE_MOST 4096

// An iterator over the lines of a text.
struct lines {
    struct slice rest;
    unsigned number; // of the last line, from 1
};

// Gets the next line, without LF or CR LF. False: the text has ended.
bool lines_next(struct lines *lines, struct slice *line);

// Returns NULL if the line is valid: not too long, and without control characters except tabs.
// Otherwise returns the error.
const char *line_check(struct slice line) MUST_USE;

// Takes the next word, up to a blank or a tab, off the line. False: there is none.
bool line_word(struct slice *line, struct slice *word);

// Takes the next item, up to a comma without a \ before it, off the list. False: there is none.
// After the last item, `list->ptr` is NULL; this distinguishes the end from an empty item.
bool line_item(struct slice *list, struct slice *item);

// Replaces each \xHH in the glob, in place, by a \ and the byte with that value. Returns the new
// length. If digits are missing, returns len + 1 and changes nothing.
size_t line_unescape(char *glob, size_t len);

#endif
