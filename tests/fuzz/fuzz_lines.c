/* SPDX-License-Identifier: MIT */

// A line of JSON: where it is a job, it is written, and what was written is the same job.

#include "core/base/macros.h"
#include "transfer/job_line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job_line line, again;

    if (job_line_read(slice_of((const char *)data, size), NSEC_PER_SEC, &line) == JOB_LINE_JOB) {
        char *text = job_line_write(&line.image);
        char *other;

        ENSURE(text);
        ENSURE(job_line_read(slice_str(text), 0, &again) == JOB_LINE_JOB);
        ENSURE(slice_equal(line.image.queue, again.image.queue));
        ENSURE(slice_equal(line.image.body, again.image.body));
        ENSURE(slice_equal(line.image.key, again.image.key));
        other = job_line_write(&again.image);
        ENSURE(other && strcmp(text, other) == 0);
        free(other);
        free(text);
        job_line_end(&again);
    }
    job_line_end(&line);
    return 0;
}
