/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_COUNTS_H
#define TANDEM_ADMIN_SHOWN_COUNTS_H

// Numbers of jobs as the API shows them, of a queue or of all: `Jobs`, `Bands`, `Totals`. Each
// function returns NULL without memory, which json_pack() passes on.

#include "core/broker.h"

#include <jansson.h>

static inline json_int_t shown_number(uint64_t number)
{
    return number <= INT64_MAX ? (json_int_t)number : INT64_MAX;
}

json_t *shown_jobs(const uint64_t jobs[JOB_STATES]);
json_t *shown_bands(const uint64_t bands[BAND_COUNT]);
json_t *shown_totals(const struct counts *counts);

#endif
