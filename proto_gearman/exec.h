/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_EXEC_H
#define TANDEM_PROTO_GEARMAN_EXEC_H

// Which function carries out a packet of which type; those packets that belong neither to clients
// (client.c) nor to workers (worker.c, ability.c) are carried out here.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// Carries out a complete packet of a known type.
void gear_exec(struct gear_conn *conn, const struct gear_packet *packet);

#endif
