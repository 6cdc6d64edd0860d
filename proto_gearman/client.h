/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_CLIENT_H
#define TANDEM_PROTO_GEARMAN_CLIENT_H

// What a client asks: jobs submitted, and how they stand.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// SUBMIT_JOB in all its forms.
void gear_submit(struct gear_conn *conn, const struct gear_packet *packet);

void gear_get_status(struct gear_conn *conn, const struct gear_packet *packet);
void gear_get_status_unique(struct gear_conn *conn, const struct gear_packet *packet);

#endif
