/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_ABILITY_H
#define TANDEM_PROTO_GEARMAN_ABILITY_H

// What a worker can do: the functions that it offers (CAN_DO) and gives up (CANT_DO).

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// CAN_DO and CAN_DO_TIMEOUT.
void gear_can_do(struct gear_conn *conn, const struct gear_packet *packet);

// CANT_DO and RESET_ABILITIES. The worker gets no more jobs of the functions that it gives up, and
// keeps those that it holds until it finishes them. Where a reset gives up many functions, the
// state is GEAR_UNSUBSCRIBING until all are given up.
void gear_cant_do(struct gear_conn *conn, const struct gear_packet *packet);
void gear_reset_abilities(struct gear_conn *conn, const struct gear_packet *packet);
enum step gear_unsubscribe_step(struct gear_conn *conn);

#endif
