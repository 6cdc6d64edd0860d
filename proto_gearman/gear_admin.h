/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_GEAR_ADMIN_H
#define TANDEM_PROTO_GEARMAN_GEAR_ADMIN_H

// Administration by text: commands of one line each, between packets or instead of them.
//
// Lists have a line for each item, and end with a line that has a dot. They show items of all
// protocols. A list is collected in slices, one in each turn. Items that exist all the time are
// listed once; items that come or go meanwhile may be listed or not. A slice ends with a line,
// except in the line of a worker with many functions. The list is sent when it is complete, or
// when it has reached 4 MiB: tools take for the whole list what they receive at once, or without a
// pause. Packets about the connection's jobs are sent after the list.

#include "proto_gearman/gear_conn.h"

#include <stddef.h>

// Carries out a line, which is without its LF or CRLF: replies, or sets the state GEAR_LISTING or
// GEAR_DROPPING, in which the reply will be made.
void gear_admin(struct gear_conn *conn, struct slice line);

// Replies that no head of the PROXY protocol is expected.
void gear_refuse_proxy(struct gear_conn *conn);

// GEAR_DROPPING: deletes the next jobs, and replies after the last.
enum step gear_drop_step(struct gear_conn *conn, struct feed_turn *turn);

// GEAR_DROPPING: frees the memory; jobs that have not been deleted stay.
void gear_drop_discard(struct gear_conn *conn);

enum gear_list {
    GEAR_LIST_STATUS,          // functions: jobs, running jobs, workers
    GEAR_LIST_PRIORITY_STATUS, // functions: ready jobs of each priority, workers
    GEAR_LIST_WORKERS,         // connections: their functions
    GEAR_LIST_JOBS,            // jobs: attempts, whether they are durable
    GEAR_LIST_UNIQUES,         // jobs: their uniques
    GEAR_LISTS
};

// Begins a list: sets the state GEAR_LISTING, or replies that there is no memory.
void gear_listing_begin(struct gear_conn *conn, enum gear_list list);

// GEAR_LISTING: collects the next slice of the list.
enum step gear_listing_step(struct gear_conn *conn, struct feed_turn *turn);

// GEAR_LISTING: the output for packets that are sent after the list.
struct output *gear_listing_behind(struct gear_conn *conn);

// GEAR_LISTING: the memory in use, beyond the output that is staged; frees it.
size_t gear_listing_holds(const struct gear_conn *conn);
void gear_listing_discard(struct gear_conn *conn);

// Writes bytes that a peer chose (the name of a function, a client id, a word of a command) in a
// reply. Control bytes could end the line or control the administrator's terminal, so they are
// written as %XX. In a list, a % of the text that two hexadecimal digits follow is written as %25,
// so that a reader can undo the escapes.
enum gear_escape {
    GEAR_ESCAPE_ECHO,  // in an error: escapes only control bytes
    GEAR_ESCAPE_FIELD, // in a list whose fields are separated by tabs
    GEAR_ESCAPE_WORD   // in a list whose fields are separated by spaces: escapes spaces, too
};
void gear_escape_write(struct output *out, struct slice text, enum gear_escape kind);

#endif
