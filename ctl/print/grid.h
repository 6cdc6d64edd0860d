/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_GRID_H
#define TANDEM_CTL_PRINT_GRID_H

// A table of text. Columns are as wide as their widest cell, in columns of the terminal, and
// numbers are aligned right. Cells whose text clients may have chosen are escaped.
//
// Rows are kept until they are written. A long table is written in pieces, and columns grow from
// one piece to the next but never shrink.

#include "core/base/slice.h"
#include "ctl/print/screen.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grid_column {
    const char *title; // NULL ends the list
    bool right;        // aligned right
    bool flexible;     // cut, with a mark, if the table is wider than the terminal
};

struct grid;

// `columns` is borrowed. `width` in columns of the terminal; 0: no limit.
struct grid *grid_new(const struct grid_column *columns, size_t width, bool colour);
void grid_free(struct grid *grid);

// Adds the next cell of the row. The last column ends the row.
void grid_cell(struct grid *grid, enum style style, struct slice untrusted);
void grid_string(struct grid *grid, enum style style, const char *untrusted);
void grid_format(struct grid *grid, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Adds a number, in a faint style if it is 0.
void grid_count(struct grid *grid, enum style style, uint64_t number);
void grid_bytes(struct grid *grid, uint64_t bytes);
void grid_seconds(struct grid *grid, double seconds);

// Adds the rows since the last call to `to`. The first call adds the titles before them.
void grid_write(struct grid *grid, struct text *to);

#endif
