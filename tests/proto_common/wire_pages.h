/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_PAGES_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_PAGES_H

// Zeroed memory from the system, in whole pages, with an unmapped page after it, so that an access
// beyond the end crashes. Pages that are not used need no memory.

#include <stddef.h>

struct wire_pages {
    char *start;
    size_t
        len; // in bytes; if it is a multiple of the page size, the unmapped page follows directly
};

// Aborts if the system has no memory.
struct wire_pages wire_pages_map(size_t len);

void wire_pages_unmap(struct wire_pages pages);

#endif
