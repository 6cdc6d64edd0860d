/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_CONN_CALLER_H
#define TANDEM_SERVER_CONN_CONN_CALLER_H

// The client that a connection acts for, and its rights. Without a token, that is the peer: its
// address, its user on this machine, or the names of its certificate. With a token, it is the
// token's owner and nothing else, until another claim.
//
// A connection has a caller only while access rules are in force (turn->rules), or after it has
// shown a token of its front-end. Without memory to determine the rights, none are granted: the
// connection must be closed.

#include "core/grants.h"
#include "proto_common/wire.h"
#include "server/conn/rule_set.h"

#include <stdbool.h>

struct conn;

struct caller {
    struct rule_set *rules; // it was authorized by; a reference. NULL: no rules were in force
    struct grants *itself;  // its rights without a token; a reference
    struct grants *now;     // its present rights; a reference
    unsigned token;         // its token, of `rules`; 0: none
    bool known;             // without a token it is a known user or has a certificate
    bool also;              // its token is one of the front-end's
};

// If rules are in force, tells the front-end of a new connection the client's rights. False without
// memory: it must not be served.
bool conn_find_caller(struct conn *conn) MUST_USE;

enum caller_change {
    CALLER_STAYS,
    CALLER_MORE,     // its front-end must be told again before anything is fed
    CALLER_LOST,     // it has lost the right to what it waits for
    CALLER_NOT_FOUND // without memory
};

// The rules have changed: determines the rights again, and tells the front-end. After CALLER_LOST
// or CALLER_NOT_FOUND it must not be served.
enum caller_change conn_find_caller_again(struct conn *conn) MUST_USE;

// Whether the rights were not determined, or not completely, by the present rules.
bool conn_caller_is_old(const struct conn *conn);

// Answers wire_identify(). False without memory: `found` is CALLER_UNKNOWN, and the connection must
// not be served.
bool conn_find_claimed(struct conn *conn, const struct wire_claim *claim,
                       struct wire_caller *found) MUST_USE;

// Writes for operators whom it acts for, in `room` bytes: its role by the rules, or else the name
// of its token, the subject of its certificate, or, if there are rules, its user. Empty: unknown.
void conn_caller_text(const struct conn *conn, char *text, size_t room);

// The connection ends.
void conn_free_caller(struct conn *conn);

#endif
