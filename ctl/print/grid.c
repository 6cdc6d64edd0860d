/* SPDX-License-Identifier: MIT */
#include "ctl/print/grid.h"

#include "core/base/macros.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <stdarg.h>
#include <stdlib.h>

#define GAP 2
// The least width of a column that is cut.
#define CUT_LEAST 8
#define CUT_MARK "~"

struct cell {
    size_t at; // offset in grid->text
    size_t len;
    size_t width;
    enum style style;
};

struct grid {
    const struct grid_column *columns;
    size_t count; // number of columns
    size_t width;
    bool colour;
    bool titled;
    size_t *widths; // of the columns, so far
    struct text text;
    struct cell *cells;
    size_t filled;
    size_t capacity;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

struct grid *grid_new(const struct grid_column *columns, size_t width, bool colour)
{
    struct grid *grid = need(calloc(1, sizeof *grid));

    grid->columns = columns;
    grid->width = width;
    grid->colour = colour;
    while (columns[grid->count].title) {
        grid->count++;
    }
    ENSURE(grid->count > 0);
    grid->widths = need(calloc(grid->count, sizeof *grid->widths));
    for (size_t i = 0; i < grid->count; i++) {
        grid->widths[i] = strlen(columns[i].title);
    }
    return grid;
}

void grid_free(struct grid *grid)
{
    if (grid) {
        free(grid->widths);
        free(grid->cells);
        text_free(&grid->text);
        free(grid);
    }
}

//
// Cells
//

// Ends a cell, which has the text added since `at`.
static void close_cell(struct grid *grid, enum style style, size_t at)
{
    struct slice bytes = slice_from(text_slice(&grid->text), at);
    size_t column = grid->filled % grid->count;
    size_t width = text_width(bytes);

    if (grid->filled == grid->capacity) {
        grid->capacity = grid->capacity ? 2 * grid->capacity : 64;
        grid->cells = need(realloc(grid->cells, grid->capacity * sizeof *grid->cells));
    }
    grid->cells[grid->filled++] = (struct cell){at, bytes.len, width, style};
    grid->widths[column] = larger(grid->widths[column], width);
}

void grid_cell(struct grid *grid, enum style style, struct slice untrusted)
{
    size_t at = grid->text.len;

    text_add_escaped(&grid->text, untrusted, false);
    close_cell(grid, style, at);
}

void grid_string(struct grid *grid, enum style style, const char *untrusted)
{
    grid_cell(grid, style, slice_str(untrusted));
}

void grid_format(struct grid *grid, enum style style, const char *format, ...)
{
    struct text text = {0};
    va_list args;

    va_start(args, format);
    text_vformat(&text, format, args);
    va_end(args);
    grid_cell(grid, style, text_slice(&text));
    text_free(&text);
}

void grid_count(struct grid *grid, enum style style, uint64_t number)
{
    size_t at = grid->text.len;

    units_add_count(&grid->text, number);
    close_cell(grid, number ? style : STYLE_FAINT, at);
}

void grid_bytes(struct grid *grid, uint64_t bytes)
{
    size_t at = grid->text.len;

    units_add_bytes(&grid->text, bytes);
    close_cell(grid, bytes ? STYLE_PLAIN : STYLE_FAINT, at);
}

void grid_seconds(struct grid *grid, double seconds)
{
    size_t at = grid->text.len;

    units_add_seconds(&grid->text, seconds);
    close_cell(grid, seconds > 0 ? STYLE_PLAIN : STYLE_FAINT, at);
}

//
// Writing
//

// The written width: the column that is cut gets the rest of the terminal.
static size_t column_width(const struct grid *grid, size_t column)
{
    size_t others = 0;
    size_t left;

    if (!grid->columns[column].flexible || grid->width == 0) {
        return grid->widths[column];
    }
    for (size_t i = 0; i < grid->count; i++) {
        others += i == column ? 0 : grid->widths[i] + GAP;
    }
    left = larger(grid->width > others ? grid->width - others : 0, CUT_LEAST);
    return left < grid->widths[column] ? left : grid->widths[column];
}

static void write_cell(const struct grid *grid, struct text *to, size_t column, enum style style,
                       struct slice what)
{
    size_t wide = column_width(grid, column);
    size_t width = text_width(what);
    bool cut = width > wide;
    struct slice kept = cut ? slice_of(what.ptr, text_fit(what, wide - 1)) : what;
    size_t pad = wide - (cut ? text_width(kept) + 1 : width);
    bool last = column + 1 == grid->count;

    if (grid->columns[column].right) {
        text_fill(to, ' ', pad);
    }
    style_add(to, style, grid->colour, kept);
    if (cut) {
        text_put(to, CUT_MARK);
    }
    if (!last) {
        text_fill(to, ' ', GAP + (grid->columns[column].right ? 0 : pad));
    } else {
        // Without trailing blanks.
        while (to->len > 0 && to->data[to->len - 1] == ' ') {
            text_cut(to, to->len - 1);
        }
        text_put_char(to, '\n');
    }
}

void grid_write(struct grid *grid, struct text *to)
{
    ENSURE(grid->filled % grid->count == 0);
    if (!grid->titled) {
        for (size_t i = 0; i < grid->count; i++) {
            write_cell(grid, to, i, STYLE_STRONG, slice_str(grid->columns[i].title));
        }
        grid->titled = true;
    }
    for (size_t i = 0; i < grid->filled; i++) {
        const struct cell *cell = &grid->cells[i];

        write_cell(grid, to, i % grid->count, cell->style,
                   slice_of(grid->text.data + cell->at, cell->len));
    }
    grid->filled = 0;
    text_cut(&grid->text, 0);
}
