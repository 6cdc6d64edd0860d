/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_UNITS_H
#define TANDEM_CTL_PRINT_UNITS_H

// Numbers as people write them, and read them.

#include "ctl/print/text.h"

#include <stdbool.h>
#include <stdint.h>

// 1,234,567
void units_add_count(struct text *to, uint64_t number);
// At most five columns: 999, 12.3k, 1.2M.
void units_add_short(struct text *to, uint64_t number);
// 12 B, 3.4 KiB, 5.6 MiB.
void units_add_bytes(struct text *to, uint64_t bytes);
// The two largest units: 250 us, 12 ms, 3.4 s, 2m 5s, 3h 10m, 4d 2h.
void units_add_seconds(struct text *to, double seconds);

// The same for a place in a format: units_count(12345).text
struct quantity {
    char text[40];
};
struct quantity units_count(uint64_t number);
struct quantity units_bytes(uint64_t bytes);
struct quantity units_seconds(double seconds);

// Whether the text is such a number, and nothing else.
bool units_read_count(const char *from, uint64_t *number);
// 90, 1.5h, 2d, 100ms, 1h30m: seconds where no unit is named.
bool units_read_seconds(const char *from, double *seconds);
// 4096, 10k, 1.5MiB: units of 1,024.
bool units_read_bytes(const char *from, uint64_t *bytes);
// 5, 5-, -9, 5-9; what is left out is 0 below and UINT64_MAX above.
bool units_read_range(const char *from, uint64_t *least, uint64_t *most);

#endif
