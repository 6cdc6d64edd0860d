/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_ADMIN_H
#define TANDEM_PROTO_GEARMAN_ADMIN_H

// Administration by text: one command a line, each with one answer, between packets or instead of
// them. Lists are long: they are written a step in each turn, so as not to hold up others.

#include "proto_gearman/conn.h"

// Carries out one line, given without its LF or CRLF, and answers; a list only begins, with the
// state GEAR_LISTING, and so does the dropping of a function with waiting jobs, with the state
// GEAR_DROPPING.
void gear_admin(struct gear_conn *conn, struct slice line);

// The next step of a list; at its end the state is GEAR_MESSAGE again.
enum step gear_listing_step(struct gear_conn *conn);

// GEAR_LISTING: the connection is gone, and the list with it.
void gear_listing_discard(struct gear_conn *conn);

// The next jobs of a function that is dropped are deleted; at the end it is answered, and the state
// is GEAR_MESSAGE again.
enum step gear_drop_step(struct gear_conn *conn);

// GEAR_DROPPING: the connection is gone; the jobs that are left stay.
void gear_drop_discard(struct gear_conn *conn);

#endif
