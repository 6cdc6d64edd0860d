/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_CALLER_H
#define TANDEM_PROTO_GEARMAN_CALLER_H

// Whom a connection speaks for, and what it may see and submit therefore. What changes a job or a
// function, the broker itself allows or not.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

#include <stdbool.h>

// OPTION_REQ auth:<token>. From now on the connection speaks for the token's owner, and for nobody
// else. A token that is none is refused, and changes nothing. Where too many that came from the
// peer's address were none, the packet waits for its answer, and so does what follows it.
void gear_auth(struct gear_conn *conn, struct slice token);

// GEAR_GRANTING: the next functions are judged; answers after the last.
enum step gear_grant_step(struct gear_conn *conn);

// GEAR_LATER: the moment has come at which the packet is carried out again.
void gear_auth_expired(struct gear_conn *conn);

// Whether the connection may know how the job is getting on: who may submit a job may also see
// what becomes of it.
bool gear_may_follow(const struct gear_conn *conn, const struct job *job);

// Whether the packet is no submission, or one that is allowed.
bool gear_may_submit(const struct gear_conn *conn, const struct gear_packet *packet);

#endif
