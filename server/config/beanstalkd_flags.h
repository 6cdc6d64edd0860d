/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_BEANSTALKD_FLAGS_H
#define TANDEM_SERVER_CONFIG_BEANSTALKD_FLAGS_H

// beanstalkd's own flags, so that a unit file that starts beanstalkd needs only the other binary's
// name. Any of them brings beanstalkd's exit codes, but only -l and -p say where to listen: a flag
// that is added to a configuration must not open a port or close one. They are collected here in
// any order and then turned into settings of ours. -v and -h are the command line's own business.

#include "core/base/macros.h"
#include "server/config/words.h"
#include "server/process/exit_reason.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// For getopt: a colon follows a letter that takes a value.
#define FLAGS_LETTERS "l:p:b:f:Fz:s:u:Vcn"

#define FLAGS_NOTES_MAX 3

struct flags {
    const char *notes[FLAGS_NOTES_MAX]; // what the operator should know, for the log
    size_t note_count;
    const char *host;      /* private: these are the values, NULL where not given */
    const char *port;      /* private */
    const char *user;      /* private */
    const char *dir;       /* private */
    bool verbose;          /* private */
    bool limited;          /* private: max_job_size is given */
    uint64_t max_job_size; /* private */
    bool timed;            /* private: -f or -F is given; the last one counts */
    bool never;            /* private: it is -F */
    uint64_t sync_ms;      /* private: of -f */
    bool sized;            /* private: segment_size is given */
    uint64_t segment_size; /* private */
};

// Whether they say where to listen: then nothing else listens unless it is told to.
bool flags_listen(const struct flags *flags);

// Whether the letter is one of beanstalkd's, with or without a value.
bool flags_know(int letter);

// Takes one flag of FLAGS_LETTERS; `value` is borrowed, NULL where it has none. False with the
// reason in `why`.
bool flags_take(struct flags *flags, int letter, const char *value,
                struct error_text *why) MUST_USE;

// Adds what the flags say as `section.key=value`. EXIT_REASON_NONE, or the reason in `why`.
enum exit_reason flags_settings(const struct flags *flags, struct words *settings,
                                struct error_text *why) MUST_USE;

// Adds that the jobs which beanstalkd has left in the journal's directory come over.
void flags_import(const struct flags *flags, struct words *presets);

// Adds the notes.
void flags_tell(const struct flags *flags, struct words *notes);

#endif
