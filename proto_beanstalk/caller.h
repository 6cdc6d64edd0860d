/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_CALLER_H
#define TANDEM_PROTO_BEANSTALK_CALLER_H

// Whom a connection speaks for, and what it may see and use therefore. What changes a job or a
// tube, the broker itself allows or not.

#include "proto_beanstalk/conn.h"

#include <stdbool.h>
#include <stdint.h>

// `auth <token>`: from now on the connection speaks for the token's owner, and for nobody else. A
// token that is none is FORBIDDEN, and changes nothing. Where too many that came from the peer's
// address were none, the command waits for its answer, and so does what follows it.
void bean_auth(struct bean_conn *conn, const struct bean_command *command);

// BEAN_GRANTING: the next watched tubes are judged; answers after the last.
enum step bean_grant_step(struct bean_conn *conn);

// BEAN_LATER: the moment has come at which the command is carried out again.
void bean_auth_expired(struct bean_conn *conn);

// The job of that id where the connection holds it, or may observe its tube; otherwise NULL, as
// where there is none.
const struct job *bean_look_up(const struct bean_conn *conn, uint64_t id);

// Whether it may do anything with the tube that a tube is used for.
bool bean_may_use(const struct bean_conn *conn, struct slice name);

#endif
