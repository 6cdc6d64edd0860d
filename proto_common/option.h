/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_OPTION_H
#define TANDEM_PROTO_COMMON_OPTION_H

// The description of a setting, a key of the configuration. The configuration file, --set,
// --check-config and the reload at SIGHUP all work from tables of these; a front-end brings the
// table of its own section.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_SIZE,     // bytes, with k, M or G for powers of 1,024; field: uint64_t
    OPTION_NUMBER,   // a whole number; field: int64_t
    OPTION_COUNT,    // a whole number; field: uint32_t
    OPTION_BOOL,     // true or false, or yes or no; field: bool
    OPTION_TEXT,     // any text; field: char *, never NULL, owned by whoever loaded the settings
    OPTION_CHOICE,   // one of `choices`, a list divided by `|`; field: int, the place in that list
    OPTION_DURATION, // a number with ms, s, m, h or d, of seconds where it has none; field: nsec_t
    OPTION_RATE,     // a number with /s, /m, /h or /d; 0: any; field: nsec_t, from one to the next
    OPTION_SHARE,    // from 0 to 1; field: uint32_t, in parts of a million
};

struct option {
    const char *name;
    const char *section; // the section of the key; NULL: that of the table. A front-end that reads
                         // a key of another section has the same value as that section
    enum option_kind kind;
    bool live;   // can change while the broker runs
    bool secret; // OPTION_TEXT: nobody is shown its value
    // OPTION_TEXT: writes what may be shown of a value with a secret in it; NULL: all of it.
    void (*show)(const char *text, FILE *file);
    bool is_file;              // OPTION_TEXT: a file that is read; `credential:NAME` names one, too
    bool is_credential;        // OPTION_TEXT: `credential:NAME` stands for what is in that file
    bool file_only;            // of a section: what is made at run time cannot say it
    bool is_job_size;          // OPTION_SIZE: no job, or no result of one, is larger
    size_t offset;             // of the field in the section's struct
    const char *default_value; // as in the file
    int64_t min, max;          // what is allowed; OPTION_DURATION: in nanoseconds. Sizes, numbers,
                               // counts and durations have them
    const char *choices;       // OPTION_CHOICE
    const char *effect;        // one sentence for --check-config and for error messages
};

#endif
