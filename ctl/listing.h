/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_LISTING_H
#define TANDEM_CTL_LISTING_H

// Lists of the API, which come a page at a time: printed page by page, so that a list of any length
// takes no more memory than a page.

#include "ctl/command.h"
#include "ctl/print/grid.h"

struct listing {
    const char *path; // with its query
    const char *key;  // under which a page has its items
    const struct grid_column *columns;
    // The cells of an item.
    void (*row)(struct grid *grid, const json_t *item);
    const char *empty; // said to people where there is none
    uint64_t limit;    // of items without --limit; 0: all
};

// Prints it as options say: a table, or JSON: one document, as it came where it is one page.
enum outcome listing_print(struct context *context, const struct listing *listing);

#endif
