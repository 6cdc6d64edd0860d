/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_LINES_H
#define TANDEM_CTL_IMPORT_LINES_H

// The jobs to import, as lines of JSON: from a file, from standard input, or from the store of
// another broker (transfer/source.h).

#include "core/base/slice.h"
#include "ctl/api/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// No broker accepts a larger job, even if its body is in base64.
#define LINE_MOST ((size_t)1536 * 1024 * 1024)

struct import_lines;

// `from` is a file, - or KIND:PLACE. Unreadable parts of a store are reported to standard error,
// and are a problem unless `repair`. NULL with a problem.
struct import_lines *import_lines_open(const char *from, bool repair, struct problem *problem);
void import_lines_close(struct import_lines *lines);

// The path of a file whose import can be resumed by another run, otherwise NULL.
const char *import_lines_path(const struct import_lines *lines);

// The next line, without its line feed, valid until the next call. Sets `*ended` after the last
// line. False with a problem.
bool import_lines_next(struct import_lines *lines, struct slice *line, bool *ended,
                       struct problem *problem);

// The bytes read, and the bytes in total; a total of 0 is unknown.
void import_lines_progress(const struct import_lines *lines, uint64_t *done, uint64_t *total);

#endif
