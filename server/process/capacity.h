/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_CAPACITY_H
#define TANDEM_SERVER_PROCESS_CAPACITY_H

// How many connections the process can hold. Accepting stops before descriptors run out, so that
// some are left for everything else: the journal's next file, a log that is opened anew, a
// configuration that is read again.

#include <stdint.h>

// Raises the process's limit of descriptors as far as it may itself. Once, at the start.
void capacity_raise(void);

// The most connections there may be: what the setting says (0: no limit), and what the limit of
// descriptors leaves beside so many that listeners and threads have. Connections of our own may
// take `own` more, and get half of what is left at most.
uint64_t capacity_connections(int64_t max_connections, uint64_t others, uint64_t own);

// The same of connections that are passed on to another process, each of which is counted with
// CAPACITY_PASSED descriptors: two sockets, and one pipe. Where bytes wait in both directions of
// one it has two pipes for as long; most have none.
#define CAPACITY_PASSED 4
uint64_t capacity_passed(int64_t max_connections, uint64_t others, uint64_t own);

#endif
