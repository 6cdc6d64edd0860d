/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_LOG_H
#define TANDEM_SERVER_IMPORTING_LOG_H

// Counts and logs the results of an import.

#include "core/base/nsec.h"
#include "transfer/source.h"

#include <stddef.h>
#include <stdint.h>

#define IMPORTING_SHOWN 512

// Copies the text of a source without its passwords, for logs and the journal. Truncates it to
// `size` bytes.
void importing_show(const char *text, char *shown, size_t size);

struct importing_tally {
    nsec_t began_at;           // by the monotonic clock
    uint64_t jobs;             // imported
    uint64_t there;            // already imported by an earlier start
    uint64_t joined;           // with the key of another job
    uint64_t torn;             // incomplete and never acknowledged, so left out
    uint64_t damaged;          // unreadable places, and jobs that could not be imported
    struct source_news damage; // the first of these
};

// Counts a torn or damaged place, and logs it unless too many were logged.
void importing_note(struct importing_tally *tally, bool torn, const struct source_news *news);

void importing_log_done(const struct importing_tally *tally, const char *text);
void importing_log_progress(const struct importing_tally *tally, const char *text, uint64_t read,
                            uint64_t size);

#endif
