/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_PAGES_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_PAGES_H

// Zeroed memory straight from the system, in whole pages and with an unmapped page behind it, so
// that a step beyond the end is noticed. Pages that are never touched cost nothing.

#include <stddef.h>

struct wire_pages {
    char *start;
    size_t len; // in bytes; where it is a multiple of a page, the unmapped page follows at once
};

// Aborts where the system refuses.
struct wire_pages wire_pages_map(size_t len);

void wire_pages_unmap(struct wire_pages pages);

#endif
