/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_CALLER_H
#define TANDEM_SERVER_CONN_CALLER_H

// Whom a connection speaks for. By itself it is where it comes from: an address, a user of this
// machine, the names of its certificate. A token makes it the token's owner and nothing else, until
// it says otherwise.
//
// A connection has this only where it needs it: where rules are in force (turn->rules), or where it
// has shown a token that its front-end knows. What cannot be found out for want of memory is not
// granted: the connection is to be closed.

#include "core/grants.h"
#include "proto_common/caller.h"
#include "server/rules.h"

#include <stdbool.h>

struct conn;

struct caller {
    struct rules *rules;   // that it was judged by; a reference. NULL: none were in force
    struct grants *itself; // what they grant it by itself; a reference
    struct grants *now;    // what it may do now; a reference
    unsigned token;        // that it has shown, of `rules`; 0: none
    bool known;            // by itself it is somebody in particular
    bool also;             // it has shown a token of its front-end's
};

// Where rules are in force, and the connection begins: its front-end is told what it may do. False
// without memory: then it must not be served.
bool conn_find_caller(struct conn *conn) MUST_USE;

enum caller_change {
    CALLER_STAYS,
    CALLER_MORE,     // its front-end is to be told again before anything is fed
    CALLER_LOST,     // what it waits for it may not have any more
    CALLER_NOT_FOUND // without memory
};

// The rules are others, or none: what it may do is found out again, and its front-end is told.
// Without CALLER_STAYS or CALLER_MORE it must not be served any more.
enum caller_change conn_find_caller_again(struct conn *conn) MUST_USE;

// Whether that was not done, or not to its end, since the rules are what they are.
bool conn_caller_is_old(const struct conn *conn);

// What wire_identify() answers. False without memory: `found` is CALLER_UNKNOWN then, and the
// connection must not be served any more.
bool conn_find_claimed(struct conn *conn, const struct wire_claim *claim,
                       struct wire_caller *found) MUST_USE;

// Whom it speaks for, for people, in `room` bytes: what rules call it, or else its token, the
// subject of its certificate, or where there are rules its user; empty: nobody in particular.
void conn_caller_text(const struct conn *conn, char *text, size_t room);

// The connection ends.
void conn_free_caller(struct conn *conn);

#endif
