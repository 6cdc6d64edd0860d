/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_OPTION_H
#define TANDEM_PROTO_COMMON_OPTION_H

// Descriptions of settings, the keys of the configuration. The configuration file, --set,
// --check-config and the reload by SIGHUP all use tables of these; a front-end has the table of its
// own section.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_SIZE,     // bytes, with k, M or G for powers of 1,024; field: uint64_t
    OPTION_NUMBER,   // a whole number; field: int64_t
    OPTION_COUNT,    // a whole number; field: uint32_t
    OPTION_BOOL,     // true or false, or yes or no; field: bool
    OPTION_TEXT,     // any text; field: char *, never NULL, owned by the loader of the settings
    OPTION_CHOICE,   // one of `choices`, separated by `|`; field: int, the index
    OPTION_DURATION, // a number with ms, s, m, h or d, without a unit in seconds; field: nsec_t
    OPTION_RATE,     // a number with /s, /m, /h or /d; 0: no limit; field: nsec_t, the interval
    OPTION_SHARE,    // from 0 to 1; field: uint32_t, in millionths
};

#define OPTION_AUTO UINT64_MAX

struct option {
    const char *name;
    const char *section; // the section of the key; NULL: that of the table. A front-end can read a
                         // key of another section, and gets the value of that section
    enum option_kind kind;
    bool live;   // can change while the broker runs
    bool secret; // OPTION_TEXT: the value is never shown
    // OPTION_TEXT: writes a value that contains a secret without it; NULL: the whole value may be
    // shown.
    void (*show)(const char *text, FILE *file);
    bool is_file;       // OPTION_TEXT: the path of a file to read; may also be `credential:NAME`
    bool is_credential; // OPTION_TEXT: `credential:NAME` is replaced by the content of that file
    bool file_only;     // not for sections that are made at run time
    bool is_job_size;   // OPTION_SIZE: the limit for jobs, or for their results
    bool has_auto;      // OPTION_SIZE: the value may be `auto`, which is OPTION_AUTO
    size_t offset;      // of the field in the section's struct
    const char *default_value; // as in the file
    int64_t min, max; // the limits, for sizes, numbers, counts and durations; OPTION_DURATION: in
                      // nanoseconds
    const char *choices; // OPTION_CHOICE
    const char *effect;  // one sentence for --check-config and for error messages
};

#endif
