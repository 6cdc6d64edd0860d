/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_LISTING_H
#define TANDEM_PROTO_GEARMAN_LISTING_H

// The lists that an administrator may ask for: a line for each thing, and a last one with a point.
// They show all there is, whatever protocol it came by. A list is collected a step in each turn,
// while what it lists comes and goes: what is there all the time is listed once, what is not may be
// listed or not. A step ends with a line, but for that of a worker with very many functions. What
// is collected goes to the output when the list ends, or when it is very long (4 MiB): tools take
// for all of it what comes in one read, or without a pause.
//
// Packets that the connection is sent meanwhile, about jobs that it submitted, come behind the
// list.

#include "proto_gearman/conn.h"

#include <stddef.h>

enum gear_list {
    GEAR_LIST_STATUS,          // functions: jobs, running ones, workers
    GEAR_LIST_PRIORITY_STATUS, // functions: ready jobs of each priority, workers
    GEAR_LIST_WORKERS,         // connections: their functions
    GEAR_LIST_JOBS,            // jobs: attempts, whether they are durable
    GEAR_LIST_UNIQUES,         // jobs: what they are unique by
    GEAR_LISTS
};

// Begins the list: the state is GEAR_LISTING, unless there is no memory, which is answered.
// Steps, and discarding, see admin.h.
void gear_listing_begin(struct gear_conn *conn, enum gear_list list);

// GEAR_LISTING: the output for what is to come behind the list, and how many bytes are kept for the
// list beyond what is staged.
struct output *gear_listing_behind(struct gear_conn *conn);
size_t gear_listing_holds(const struct gear_conn *conn);

#endif
