/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_CARE_H
#define TANDEM_JOURNAL_PG_CARE_H

// What the settings of the database promise.

#include <stdbool.h>

#define CARE_TEXT_MAX 256

// What a commit is worth as the database is set.
struct rows_care {
    bool commits_wait;        // synchronous_commit waits for this server's disk, or for more
    bool standbys_wait;       // ... and for a standby: synchronous_standby_names is set
    bool fsync;               // its setting `fsync`
    char text[CARE_TEXT_MAX]; // for operators: what these settings are
};

// Whether what is committed is on a disk.
static inline bool rows_care_durable(const struct rows_care *care)
{
    return care->fsync && care->commits_wait;
}

#endif
