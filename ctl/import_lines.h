/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_LINES_H
#define TANDEM_CTL_IMPORT_LINES_H

// The jobs that are to be brought in, as lines of JSON: of a file, of standard input, or out of a
// store that another broker has left behind (transfer/source.h).

#include "core/base/slice.h"
#include "ctl/api/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// No broker takes a larger job, not even with a body in base64.
#define LINE_MOST ((size_t)1536 * 1024 * 1024)

struct import_lines;

// `from` is a file, - or KIND:PLACE. What of a store cannot be read is told on standard error, and
// is a problem unless `repair`. NULL with a problem.
struct import_lines *import_lines_open(const char *from, bool repair, struct problem *problem);
void import_lines_close(struct import_lines *lines);

// The path, where it is a file, which can be gone on with by another run; NULL otherwise.
const char *import_lines_path(const struct import_lines *lines);

// The next line, without its end, good until the next call; `*ended` behind the last one. False
// with a problem.
bool import_lines_next(struct import_lines *lines, struct slice *line, bool *ended,
                       struct problem *problem);

// How much was read of how much; 0: that is not known.
void import_lines_progress(const struct import_lines *lines, uint64_t *done, uint64_t *total);

#endif
