/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_REASON_H
#define TANDEM_ACCESS_REASON_H

// Why a file is refused, in words: `PATH:LINE: "word": what is wrong`.

#include "access/access.h"
#include "access/parse.h"

// Bytes that do not print are written as \xHH, and what is too long is cut.
void reason_write(struct error_text *why, const char *path, const struct parse_error *error);

#endif
