/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_USAGE_H
#define TANDEM_SERVER_PROCESS_USAGE_H

// What the process uses of the system, as the system counts. Each asks the kernel.

#include <stdint.h>

// Bytes of memory that are resident; 0: not known.
uint64_t usage_resident(void);

// Open descriptors; 0: not known, as with Linux before 6.2, where they would have to be counted one
// by one.
uint64_t usage_descriptors(void);

// How many of these there may be; 0: not known.
uint64_t usage_descriptors_limit(void);

#endif
