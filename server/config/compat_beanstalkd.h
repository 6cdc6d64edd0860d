/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_COMPAT_BEANSTALKD_H
#define TANDEM_SERVER_CONFIG_COMPAT_BEANSTALKD_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "server/config/string_list.h"
#include "server/process/daemon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// beanstalkd's flags, so that a unit file of beanstalkd works with another program path. With any
// of them, exit codes are those of beanstalkd. But only -l and -p change the addresses: another
// flag that is added to a command line must not open or close a port. The flags are collected in
// any order, and then turned into settings. -v and -h are handled by the command line.

// For getopt: a colon follows a letter with a value.
#define FLAGS_LETTERS "l:p:b:f:Fz:s:u:Vcn"

#define FLAGS_NOTES_MAX 3

struct beanstalkd_flags {
    const char *notes[FLAGS_NOTES_MAX]; // for the log
    size_t note_count;
    const char *host;      /* private: NULL if not given, like the next three */
    const char *port;      /* private */
    const char *user;      /* private */
    const char *dir;       /* private */
    bool verbose;          /* private */
    bool limited;          /* private: max_job_size is given */
    uint64_t max_job_size; /* private */
    bool timed;            /* private: -f or -F is given; the last one applies */
    bool never;            /* private: it is -F */
    uint64_t sync_ms;      /* private: of -f */
    bool sized;            /* private: segment_size is given */
    uint64_t segment_size; /* private */
};

// Whether the flags set the addresses: then other protocols listen only if a setting demands it.
bool flags_listen(const struct beanstalkd_flags *flags);

// Whether the letter is a flag of beanstalkd.
bool flags_know(int letter);

// Applies one flag of FLAGS_LETTERS; `value` is borrowed, and NULL if the flag has none. False with
// the reason in `why`.
bool flags_take(struct beanstalkd_flags *flags, int letter, const char *value,
                struct error_text *why) MUST_USE;

// Adds the settings of the flags as `section.key=value`. Returns EXIT_REASON_NONE, or another
// reason with its text in `why`.
enum exit_reason flags_settings(const struct beanstalkd_flags *flags, struct string_list *settings,
                                struct error_text *why) MUST_USE;

// Adds the import of the jobs that beanstalkd has left in the journal's directory.
void flags_import(const struct beanstalkd_flags *flags, struct string_list *presets);

// Adds the notes.
void flags_add_notes(const struct beanstalkd_flags *flags, struct string_list *notes);

#endif
