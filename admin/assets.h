/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_ASSETS_H
#define TANDEM_ADMIN_ASSETS_H

// The page: the files of admin/page, which the build puts into the program, each as it is and as
// gzip has it. They say nothing of the broker and are for everybody: what the page shows, it asks
// the API for, with the token of whoever looks.

#include "admin/route.h"

#include <stddef.h>

struct asset {
    const char *path; // "/app.js"; NULL ends the table
    const char *type; // Content-Type
    const char *tag;  // of the file's content, without quotes
    const unsigned char *plain, *gzip;
    size_t plain_len, gzip_len;
};

// Made by cmake/EmbedPage.cmake: the files, and a route to each.
extern const struct asset admin_assets[];
extern const struct admin_route asset_routes[];

enum http1_next asset_answer(struct http1_conn *conn, struct slice body, struct blob *blob);

#endif
