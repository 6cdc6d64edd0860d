/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_JOB_LINE_H
#define TANDEM_TRANSFER_JOB_LINE_H

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/record.h"
#include "json/json_reader.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

// A job as one line of JSON, with all that outlives a restart: an object of `queue`, `state`
// (ready, delayed or buried), `priority`, `delay_seconds`, `due_at`, `due_by_calendar`,
// `delay_imposed` (no submitter asked for the wait, and no duplicate ends it), `ttr_seconds`,
// `attempts`, `max_attempts`, `on_failure`, `on_loss`, `key_kind`, `key`, `reducer`, `counts`,
// `created_at`, `past`, `body`; and, ignored by the import, `id`, `burial` (the rank among buried
// jobs), `version` (job_version.h) and `held`. Only the queue is required. Times are seconds since
// 1970, exact to a millisecond.
//
// Names, keys and bodies may have any bytes. Each is a string if it is UTF-8 without a NUL,
// otherwise an object with `encoding` (base64 or text) and `data`. A body is always written as such
// an object, and may be either when it is read.

#define JOB_LINE_WHY JSON_READER_WHY

enum job_line_kind {
    JOB_LINE_JOB,
    JOB_LINE_END,      // the last line of an export, not a job
    JOB_LINE_BAD,      // not a job; the reason is in `why`
    JOB_LINE_NO_MEMORY // reading the line again may succeed
};

struct job_line {
    struct job_image image; // its id is 0, and its slices are borrowed from `document`
    json_t *document;       /* private */
    char why[JOB_LINE_WHY];
};

// Reads a line, without the newline. `now_at`, by the wall clock, is the default creation time, and
// the start of the delay if there is no `due_at`. Call job_line_end() in any case.
enum job_line_kind job_line_read(struct slice text, nsec_t now_at, struct job_line *line) MUST_USE;
void job_line_end(struct job_line *line);

// The line without its body, as an object; NULL without memory.
json_t *job_line_head(const struct job_image *image) MUST_USE;

// The line, without the newline, for free(); NULL without memory.
char *job_line_write(const struct job_image *image) MUST_USE;

#endif
