/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_REPORT_H
#define TANDEM_CTL_MIGRATE_REPORT_H

// The output of a migration: a bar on a terminal, lines otherwise. Each job that workers may get
// twice is listed with its ids on both sides.

#include "ctl/migrate/inside.h"

void report_line(struct migration *migration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_duplicate(struct migration *migration, const struct item *item);
void report_spoilt(struct migration *migration, const struct item *item);

// Prints the progress if it is due. False if the output cannot be written any more.
bool report_progress(struct migration *migration);

// Prints the moved and the remaining jobs; sets the problem if jobs remain.
enum outcome report_end(struct migration *migration);

#endif
