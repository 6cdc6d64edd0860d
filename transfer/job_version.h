/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_JOB_VERSION_H
#define TANDEM_TRANSFER_JOB_VERSION_H

// A number that tells whether a job is still as it was when it was exported. It covers the job's
// identity (id, creation time, body), its place (queue, state, priority, delay, burial) and its
// attempts and past. Not covered: counters, and whether a worker holds the job. Delays count to the
// nearest second; where rounding or a clock step gives an unchanged job another version, the caller
// sees a change that did not happen, never the reverse.

#include "core/base/slice.h"
#include "core/record.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_VERSION_LEN 16
#define JOB_VERSION_SIZE (JOB_VERSION_LEN + 1)

uint64_t job_version(const struct job_image *image);

// A hash of the parts that never change while the job is in its queue, without its id.
uint64_t job_contents(const struct job_image *image);

// As text: 16 hexadecimal digits, lower case.
void job_version_write(uint64_t version, char text[JOB_VERSION_SIZE]);
bool job_version_read(struct slice text, uint64_t *version);

#endif
