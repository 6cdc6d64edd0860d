/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_BASE64_H
#define TANDEM_CTL_API_BASE64_H

// Bytes in JSON.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>

void base64_add(struct text *to, struct slice bytes);

// Adds the bytes; false, with some of them added, where it is none.
bool base64_read(struct text *to, struct slice from);

#endif
