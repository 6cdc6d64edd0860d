/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_PRINT_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_PRINT_H

// The fingerprint of a binlog: which jobs live in it and how, where its last record ends, and, to
// compare it at one glance, names, sizes and times of its files. A beanstalkd that is started on it
// begins a file and removes those without live jobs; as long as it writes no record, the binlog is
// the same.

#include "transfer/beanstalkd/binlog_scan.h"

struct binlog_print {
    char *bytes; /* private */
    size_t len;  /* private */
};

// After the scan, sorted. False without memory.
bool binlog_print_make(struct binlog_print *print, const struct binlog_dir *dir,
                       const struct binlog_scan *scan) MUST_USE;
void binlog_print_clear(struct binlog_print *print);

struct slice binlog_print_bytes(const struct binlog_print *print);

// Whether the fingerprint is of a binlog with these very files.
bool binlog_print_has_files(struct slice print, const struct binlog_dir *dir);
// Whether it has the jobs and the end of the other one.
bool binlog_print_has_jobs(struct slice print, const struct binlog_print *other);

#endif
