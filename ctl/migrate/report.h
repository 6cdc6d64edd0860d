/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_REPORT_H
#define TANDEM_CTL_MIGRATE_REPORT_H

// The output of a migration, a bar on a terminal and lines otherwise; and the jobs that cannot be
// moved, which this run does not try again and lists at its end. Each job that workers may get
// twice is listed with its ids on both servers.

#include "ctl/migrate/migration_private.h"

enum unmoved_reason {
    UNMOVED_LARGE,   // too large for the target
    UNMOVED_REFUSED, // the target refuses it
    UNMOVED_NAME     // the name of its queue is not valid for a tube
};
#define UNMOVED_REASONS 3

struct unmoved_job {
    uint64_t id;
    enum unmoved_reason why;
    enum kind kind;
};

// Does nothing if the job was noted before.
void unmoved_note(struct migration *migration, uint64_t id, enum unmoved_reason why,
                  enum kind kind);
bool unmoved_has(const struct migration *migration, uint64_t id);
void unmoved_free(struct migration *migration);

void report_line(struct migration *migration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_duplicate(struct migration *migration, const struct item *item);
void report_spoilt(struct migration *migration, const struct item *item);

// Prints the progress if it is due. False with a problem: the output cannot be written.
bool report_progress(struct migration *migration);

// Prints the moved and the remaining jobs; sets the problem if jobs remain.
enum outcome report_end(struct migration *migration);

#endif
