/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_PROCFS_H
#define TANDEM_BENCH_PROCFS_H

// What the kernel says about another process.

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// CPU time that all threads of the process have used, in nanoseconds. False where it cannot be
// told. A running thread's share of its current tick is not in it.
bool procfs_cpu_time(pid_t pid, uint64_t *nsec);

#endif
