/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_BODY_H
#define TANDEM_PROTO_GEARMAN_BODY_H

// A packet whose data is long and arrives piece by piece: it is gathered where it will stay, and
// memory grows with the bytes that really come.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

#include <stddef.h>

// Begins to gather the data, `len` bytes of which are still to come, of a packet whose arguments
// are complete. They are copied. The state is GEAR_BODY then, or GEAR_SKIP without memory, or
// without the right.
void gear_body_begin(struct gear_conn *conn, const struct gear_packet *packet, size_t len);

// Takes what is there of it. Complete, the packet is carried out.
enum step gear_body_step(struct gear_conn *conn, struct feed_turn *turn);

// GEAR_BODY: the data that is received, and how many bytes the packet has taken up.
struct intake *gear_body_intake(struct gear_conn *conn);
size_t gear_body_holds(const struct gear_conn *conn);

// Forgets it.
void gear_body_discard(struct gear_conn *conn);

#endif
