/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_PACE_H
#define TANDEM_SERVER_CONN_PACE_H

// The server's side of proto_common/pace.h: a connection is paced from when its front-end sets the
// peer a time for something, and that needs a place. Without such limits it costs nothing.

#include "core/base/macros.h"
#include "proto_common/pace.h"
#include "server/turn.h"

struct conn;

struct conn_pace {
    struct patience patience;
};

// The moment at which a connection's front-end wants to be told, its peer has not read for too
// long, or is to be looked at: the earliest of them.
struct conn_deadline {
    struct deadline due;
    nsec_t unread_at;        // when it is dropped for not reading; NSEC_NEVER while it reads
    struct conn_pace pace[]; // one, where the connection is paced
};

// Has room for what paces the connection. False without memory.
bool conn_make_paced(struct conn *conn) MUST_USE;

// Sets the connection's deadline, which there is, where nothing has happened since it was set last.
void conn_arm_deadline(struct conn *conn);

// Something has happened on the connection, whose service has limits. `reads`: what the peer sends
// is taken. False without memory.
bool conn_note_pace(struct conn *conn, bool reads) MUST_USE;

// The moment to look has come. Whether the peer was too late, which its front-end is told.
bool conn_check_pace(struct conn *conn, bool reads);

#endif
