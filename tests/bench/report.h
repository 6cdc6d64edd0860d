/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_REPORT_H
#define TANDEM_BENCH_REPORT_H

// The outcome of a run as one line of key=value pairs.

struct run;

void report_print(const struct run *run);

#endif
