/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_EXEC_H
#define TANDEM_PROTO_GEARMAN_EXEC_H

// What each packet means.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// Carries out a complete packet of a known type.
void gear_exec(struct gear_conn *conn, const struct gear_packet *packet);

#endif
