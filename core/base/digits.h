/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_DIGITS_H
#define TANDEM_CORE_BASE_DIGITS_H

// Decimal numbers, as every protocol here writes them.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// The most digits that a number has.
#define DIGITS_MAX 20

// Writes `number`, at most DIGITS_MAX bytes; returns where it ends.
char *digits_write(char *at, uint64_t number);

// Reads a number of digits and nothing else; false for anything else, also where it does not fit.
bool digits_read(struct slice text, uint64_t *number);

#endif
