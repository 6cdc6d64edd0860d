/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_LOG_H
#define TANDEM_SERVER_IMPORTING_LOG_H

// What has become of the jobs of an import, for the log.

#include "core/base/nsec.h"
#include "transfer/source.h"

#include <stddef.h>
#include <stdint.h>

#define IMPORTING_SHOWN 512

// The text of a source as it may stand in a log or a journal: without the passwords that it may
// have. What `size` bytes do not take is left out.
void importing_show(const char *text, char *shown, size_t size);

struct importing_tally {
    nsec_t began_at;           // by the monotonic clock
    uint64_t jobs;             // that were brought in
    uint64_t there;            // that were there already, from the start before
    uint64_t joined;           // that had the key of another one
    uint64_t torn;             // that were left out, and nobody misses
    uint64_t damaged;          // places that could not be read, or jobs that could not be taken
    struct source_news damage; // the first of these
};

// Counts what is torn or damaged, and has the log say so, as long as that is not too much.
void importing_note(struct importing_tally *tally, bool torn, const struct source_news *news);

// It is done.
void importing_log_done(const struct importing_tally *tally, const char *text);
// How far it is.
void importing_log_progress(const struct importing_tally *tally, const char *text, uint64_t read,
                            uint64_t size);

#endif
