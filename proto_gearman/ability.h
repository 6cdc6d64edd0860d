/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_ABILITY_H
#define TANDEM_PROTO_GEARMAN_ABILITY_H

// What a worker can do: the functions that it offers and gives up.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// CAN_DO and CAN_DO_TIMEOUT.
void gear_can_do(struct gear_conn *conn, const struct gear_packet *packet);

// Jobs that are held under a function that is given up go back; where they, or the functions, are
// many, the state is GEAR_GIVING until all is done.
void gear_cant_do(struct gear_conn *conn, const struct gear_packet *packet);
void gear_reset_abilities(struct gear_conn *conn, const struct gear_packet *packet);
enum step gear_giving_step(struct gear_conn *conn);

// Forgets what is being given up.
void gear_giving_discard(struct gear_conn *conn);

#endif
