/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_LISTING_H
#define TANDEM_CTL_LISTING_H

// Prints lists of the API page by page, so that a list of any length needs only the memory of one
// page.

#include "ctl/command.h"
#include "ctl/print/grid.h"

struct api_list {
    const char *path; // including its query
    const char *key;  // the member of a page that has the items
    const struct grid_column *columns;
    // Adds the cells of an item.
    void (*row)(struct grid *grid, const json_t *item);
    const char *empty; // printed in place of an empty table
    uint64_t limit;    // items without --limit; 0: no limit
};

// Prints a table, or with --json one document; a single page is printed unchanged.
enum outcome listing_print(struct context *context, const struct api_list *listing);

#endif
