/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_PROXIED_H
#define TANDEM_SERVER_NET_PROXIED_H

// Connections by a proxy that names its clients: each begins with a head of the PROXY protocol
// (server/transport/proxy_head.h), in plain text also in front of TLS. The listener is marked for
// that, and only proxies that the settings name may use it, as anyone else could claim any address.
//
// The head is the first part of the handshake of a transport, so that the time limit, the bounds
// and the threads of handshakes apply to it (handshakes.h). Afterwards the transport only passes
// calls on to the plain one or to TLS.
//
// In a cluster, a standby that passes connections on names their clients to the owner in the same
// way, at ordinary addresses of the owner, by version 2. Only at connections from brokers that this
// process has advertised as such (members), it looks for a head there, and serves a connection
// without one as any other. Elsewhere a head is not believed, but refused as a wrong command.
//
// From then on the client counts instead of the proxy: for rules, limits of an address, and the
// log. A client that the proxy does not name has no address, and no rule for an address matches it.
// A loopback address is the proxy's own machine, so the proxy's address counts if that is another
// machine; the same holds for connections that the proxy makes for itself.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "server/config/proxy_list.h"
#include "server/transport/transport.h"

#include <stdbool.h>

// Reasons for which a connection is refused.
#define PROXIED_STRANGER "its address is not one of server.proxies"
#define PROXIED_NO_HEAD "it does not begin with a head of the PROXY protocol"

// The proxies that may connect now, and the members. Any thread may ask.
struct proxies;

// Without proxies at first. NULL without memory.
struct proxies *proxies_new(void) MUST_USE;
// NULL is allowed. No other thread may use it any more.
void proxies_free(struct proxies *proxies);

// Sets the proxies, by a text that proxy_list_read() accepts.
void proxies_set(struct proxies *proxies, const char *text);

// Sets the members, by a text of the same kind. They stay when the proxies change, as other
// processes know of them.
void proxies_set_members(struct proxies *proxies, const char *text);

// Whether the socket's peer is a member.
bool proxies_have_member(struct proxies *proxies, int fd);

struct peer_limits;

// Who names the clients of a service.
enum proxied_by {
    PROXIED_BY_NONE,  // any peer may connect, and speaks for itself
    PROXIED_BY_PROXY, // only proxies may connect
    PROXIED_BY_MEMBER // the peer is a member, and may name the client
};

// Counts an accepted socket of that kind in `limits` (admission.h), which may be NULL. NULL, or the
// reason for which the socket must be closed; empty if the peer has left.
const char *proxied_admit(struct proxies *proxies, enum proxied_by by, struct peer_limits *limits,
                          int fd, unsigned kind) MUST_USE;
// The state that all connections of a service share; `shared` of the transport.
struct proxied_service {
    const struct transport *inner;   // NULL: the handshake is the head alone
    void *inner_shared;              // its shared state
    struct peer_limits *peer_limits; // that clients enter as they are named; or NULL
    bool optional;                   // a head may be missing, and is of version 2
};

extern const struct transport transport_proxied;

// Whether the service of the connection has no inner transport.
bool proxied_is_head_alone(const void *own);

// Ends the state of a connection that has only read the head, and keeps the socket open. True:
// `client` is set to the client that the proxy has named; false: the proxy speaks for itself.
bool proxied_release(void *own, struct client_address *client);

#endif
