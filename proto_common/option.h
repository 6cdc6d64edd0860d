/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_OPTION_H
#define TANDEM_PROTO_COMMON_OPTION_H

// A setting, described once: the configuration file, --set, --check-config and the reload on HUP
// all work from tables of these. A front-end brings the table of its own section.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_SIZE,   // bytes, with k, M or G for powers of 1,024; field: uint64_t
    OPTION_NUMBER, // a whole number; field: int64_t
    OPTION_BOOL,   // true or false; field: bool
    OPTION_TEXT,   // any text; field: char *, never NULL, owned by whoever loaded the settings
    OPTION_CHOICE, // one of `choices`, a list divided by `|`; field: int, the place in that list
};

struct option {
    const char *name;
    const char *section; // whose key it is; NULL for one of its own section. What is said of a key
                         // of another section is said to all who have it
    enum option_kind kind;
    bool live;           // can change while the broker runs
    size_t offset;       // of the field in the section's struct
    const char *preset;  // the default, as it would be written in the file
    int64_t min, max;    // OPTION_SIZE, OPTION_NUMBER: what is allowed
    const char *choices; // OPTION_CHOICE
    const char *effect;  // one sentence for --check-config and for error messages
};

#endif
