/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_PARTS_H
#define TANDEM_ADMIN_REQUEST_PARTS_H

// How many parts a JSON text has. One of a megabyte may have a hundred thousand, each of which
// takes memory and time: they are counted before they are read.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// Whether there are at most so many values and names in the text, which may be any bytes.
bool parts_fit(struct slice text, size_t most);

#endif
