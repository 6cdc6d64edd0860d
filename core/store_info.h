/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_STORE_INFO_H
#define TANDEM_CORE_STORE_INFO_H

// What a store says of itself (record.h).

#include <stdbool.h>
#include <stdint.h>

// What a store is doing, for statistics.
struct store_info {
    uint64_t oldest;   // number of the oldest file, 0 for none
    uint64_t current;  // of the one that is written to
    uint64_t written;  // records that came from the core
    uint64_t migrated; // records that were written anew to free old files
    uint64_t file_max; // bytes of a file
    uint64_t bytes;    // on disk, in all files, set aside or used
    uint64_t live;     // bytes of these that live jobs take and are promised
    uint64_t errors;   // writes, syncs and the like that failed
    bool failing;      // nothing could be made to last for some time, or the disk is full:
                       // submissions are refused
    uint64_t epoch;    // of this process's ownership; 0: no other process could have the store
    bool durable;      // where it is not 0: what is made to last is on a disk
    bool replicated;   // ... and on those of another machine
};

#endif
