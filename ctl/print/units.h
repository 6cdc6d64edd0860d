/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_UNITS_H
#define TANDEM_CTL_PRINT_UNITS_H

// Formats and parses numbers with units.

#include "ctl/print/text.h"

#include <stdbool.h>
#include <stdint.h>

// 1,234,567
void units_add_count(struct text *to, uint64_t number);
// The number and the word, with a plural s unless the number is 1: "1 job", "1,234 jobs".
void units_add_noun(struct text *to, uint64_t number, const char *word);
// At most five columns: 999, 12.3k, 1.2M.
void units_add_short(struct text *to, uint64_t number);
// 12 B, 3.4 KiB, 5.6 MiB.
void units_add_bytes(struct text *to, uint64_t bytes);
// The two largest units at most: 250 us, 12 ms, 3.4 s, 2m 5s, 3h 10m, 4d 2h.
void units_add_seconds(struct text *to, double seconds);

// The same as arguments of a format: units_count(12345).text
struct quantity {
    char text[40];
};
struct quantity units_count(uint64_t number);
struct quantity units_bytes(uint64_t bytes);
struct quantity units_seconds(double seconds);
// `seconds` since 1970 as local time: 2026-11-27 14:45:58; "?" if that is not a time.
struct quantity units_moment(double seconds);

// Parses a whole number. False unless it is the whole text.
bool units_read_count(const char *from, uint64_t *number);
// 90, 1.5h, 2d, 100ms, 1h30m: seconds by default.
bool units_read_seconds(const char *from, double *seconds);
// 4096, 10k, 1.5MiB: units of 1,024.
bool units_read_bytes(const char *from, uint64_t *bytes);
// 5, 5-, -9, 5-9; a missing bound is 0 or UINT64_MAX.
bool units_read_range(const char *from, uint64_t *least, uint64_t *most);

#endif
