/* SPDX-License-Identifier: MIT */
#include "admin/shown_counts.h"

json_t *shown_jobs(const uint64_t jobs[JOB_STATES])
{
    return json_pack("{s:I, s:I, s:I, s:I}", "ready", shown_number(jobs[JOB_READY]), "delayed",
                     shown_number(jobs[JOB_DELAYED]), "reserved", shown_number(jobs[JOB_RESERVED]),
                     "buried", shown_number(jobs[JOB_BURIED]));
}

json_t *shown_bands(const uint64_t bands[BAND_COUNT])
{
    return json_pack("{s:I, s:I, s:I}", "high", shown_number(bands[BAND_HIGH]), "normal",
                     shown_number(bands[BAND_NORMAL]), "low", shown_number(bands[BAND_LOW]));
}

json_t *shown_totals(const struct counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "submitted",
                     shown_number(counts->submitted), "completed", shown_number(counts->completed),
                     "failed", shown_number(counts->failed), "buried", shown_number(counts->buried),
                     "timeouts", shown_number(counts->timeouts), "retries",
                     shown_number(counts->retries), "deleted", shown_number(counts->deleted),
                     "released", shown_number(counts->releases), "kicked",
                     shown_number(counts->kicks), "expired", shown_number(counts->expired), "dead",
                     shown_number(counts->dead));
}
