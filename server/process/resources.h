/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_RESOURCES_H
#define TANDEM_SERVER_PROCESS_RESOURCES_H

// Descriptors and memory: how much of them the process may use, and uses. Accepting stops before
// descriptors run out, so that some are left for the next file of the journal, a log file that is
// reopened, or a configuration that is read again.

#include <stdint.h>

// Raises the soft limit of descriptors to the hard limit. Called once, at the start.
void capacity_raise(void);

// The maximum number of connections: `max_connections` (0: no limit), or fewer if the limit of
// descriptors, less `others` for listeners and threads, is lower. Connections that we open may take
// `own` more descriptors, at most half of the rest.
uint64_t capacity_connections(int64_t max_connections, uint64_t others, uint64_t own);

// The same for connections that are passed to another process. Each counts as CAPACITY_PASSED
// descriptors: two sockets and one pipe. A connection with bytes waiting in both directions has two
// pipes for that time, but most have none.
#define CAPACITY_PASSED 4
uint64_t capacity_passed(int64_t max_connections, uint64_t others, uint64_t own);

// What the process uses now, by the kernel's count. 0: unknown.

// Bytes of resident memory.
uint64_t usage_resident(void);

// Open descriptors; unknown before Linux 6.2, where they would have to be counted one by one.
uint64_t usage_descriptors(void);

// The limit of open descriptors.
uint64_t usage_descriptors_limit(void);

#endif
