/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_BASE64_H
#define TANDEM_CTL_API_BASE64_H

// Base64, the form of bytes in JSON.

#include "core/base/slice.h"
#include "ctl/print/text.h"

#include <stdbool.h>

void base64_add(struct text *to, struct slice bytes);

// Decodes `from` into `to`. False if it is not valid base64; some bytes may have been added.
bool base64_read(struct text *to, struct slice from);

#endif
