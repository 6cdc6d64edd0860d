/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_PROCFS_H
#define TANDEM_BENCH_PROCFS_H

// Figures of another process, from /proc.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCFS_THREADS_MAX 256
#define PROCFS_NAME_ROOM 16

struct procfs_thread {
    pid_t id;
    char name[PROCFS_NAME_ROOM]; // what separates names in a list is replaced in it
    uint64_t cpu;                // nanoseconds on a CPU
};

// The threads of some processes, of each ordered by id: the one first that it began with.
struct procfs_threads {
    size_t count;
    struct procfs_thread list[PROCFS_THREADS_MAX];
};

// Adds the threads of the process, with the CPU time that each has used. False where it cannot be
// told, or where there are more threads than fit. A running thread's share of its current tick is
// not in it.
bool procfs_add_threads(pid_t pid, struct procfs_threads *threads);

// Takes off each thread's time what it had used at an earlier reading.
void procfs_subtract(struct procfs_threads *threads, const struct procfs_threads *earlier);

// The time of all of them.
uint64_t procfs_sum(const struct procfs_threads *threads);

#endif
