/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_ABILITY_H
#define TANDEM_PROTO_GEARMAN_ABILITY_H

// What a worker can do: the functions that it offers (CAN_DO) and gives up (CANT_DO).

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// CAN_DO and CAN_DO_TIMEOUT.
void gear_can_do(struct gear_conn *conn, const struct gear_packet *packet);

// CANT_DO and RESET_ABILITIES. The jobs that the worker holds of the functions that it gives up go
// back to their queues; where jobs or functions are many, the state is GEAR_UNSUBSCRIBING until all
// have.
void gear_cant_do(struct gear_conn *conn, const struct gear_packet *packet);
void gear_reset_abilities(struct gear_conn *conn, const struct gear_packet *packet);
enum step gear_unsubscribe_step(struct gear_conn *conn);

// GEAR_UNSUBSCRIBING: the connection is gone; what it holds goes back as its session closes.
void gear_unsubscribe_discard(struct gear_conn *conn);

#endif
