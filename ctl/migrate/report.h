/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_REPORT_H
#define TANDEM_CTL_MIGRATE_REPORT_H

// What a migration tells: a bar on a terminal, lines otherwise, and each job that may have to be
// worked twice by its ids on both sides.

#include "ctl/migrate/inside.h"

void report_line(struct migration *migration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_duplicate(struct migration *migration, const struct item *item);
void report_spoilt(struct migration *migration, const struct item *item);

// How far it is, where it is time to say so. False where nobody reads it any more.
bool report_progress(struct migration *migration);

// What was moved, and what was not; sets the problem where something is left.
enum outcome report_end(struct migration *migration);

#endif
