/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_GRID_H
#define TANDEM_CTL_PRINT_GRID_H

// A table of text: columns as wide as what stands in them, by the columns of a terminal, numbers at
// the right. What others may have chosen is escaped by the cells that take it.
//
// Rows are kept until they are written. A table of any length is written piece by piece: columns
// grow from one piece to the next, and never shrink.

#include "core/base/slice.h"
#include "ctl/print/style.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grid_column {
    const char *title; // NULL ends the list
    bool right;        // numbers
    bool gives;        // is cut, with a mark, where the table is wider than the terminal
};

struct grid;

// `columns` is borrowed. `width` is that of the terminal; 0: any.
struct grid *grid_new(const struct grid_column *columns, size_t width, bool colour);
void grid_free(struct grid *grid);

// The next cell of the row; the row ends with its last column.
void grid_cell(struct grid *grid, enum style style, struct slice other_peoples);
void grid_string(struct grid *grid, enum style style, const char *other_peoples);
void grid_format(struct grid *grid, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Faint where it is 0.
void grid_count(struct grid *grid, enum style style, uint64_t number);
void grid_bytes(struct grid *grid, uint64_t bytes);
void grid_seconds(struct grid *grid, double seconds);

// Adds the rows since the last time to the text, with the titles before the first ones.
void grid_write(struct grid *grid, struct text *to);

#endif
