/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_HANDSHAKES_H
#define TANDEM_SERVER_NET_HANDSHAKES_H

// Accepted sockets whose transport has a handshake to make, before they are connections. The owner
// of an event base has one of these on it, and is told once for each socket that the handshake is
// done or has failed. It is told of the client that the peer has named, if the peer is a proxy.
//
// Unknown clients cannot exhaust it:
// - a socket from which nothing has come has no state of its transport;
// - at most HANDSHAKES_BEGUN_MAX handshakes (budget.h) have begun at the same time. If one more is
//   to begin, the one that has waited longest for its peer is given up;
// - steps are made in passes over the sockets that are ready, alternately one that begins and one
//   that goes on, each in the order in which they became ready. A pass makes at most
//   HANDSHAKES_STEPS_MAX steps, and begins none after HANDSHAKES_FOR. The next pass comes in the
//   next round of the base, after the events of connections;
// - each handshake has a time limit.
//
// All functions are called by the thread that runs the base.

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "server/transport/transport.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>

// The owner. Its functions may call handshakes_add(), and no other of these.
struct handshakes_host {
    // A clock that stops while the machine is suspended, as the timers of the base do.
    nsec_t (*now)(void);
    // The handshake is done. The callee owns the socket, and moves `own`, the transport's state,
    // elsewhere during the call.
    void (*done)(void *context, const void *service, int fd, void *own, const char *peer);
    // It has failed, and the socket is closed. `why` is empty if the peer has closed without
    // sending anything.
    void (*failed)(void *context, const void *service, const char *peer, const char *why);
};

struct peer_limits;

struct handshakes {
    size_t count;                       // of sockets
    struct peer_limits *peer_limits;    // left by sockets that are closed here; may be set
    struct event_base *base;            /* private */
    const struct handshakes_host *host; /* private */
    void *context;                      /* private */
    nsec_t timeout_for;                 /* private */
    struct list_node all;               /* private: the oldest first */
    struct list_node fresh;             /* private: to be begun */
    struct list_node going;             /* private: begun, and another step is to be made */
    struct list_node waiting;           /* private: begun, the one that waits longest first */
    size_t begun;                       /* private: how many are */
    size_t begun_max;                   /* private: HANDSHAKES_BEGUN_MAX, or fewer in a test */
    bool goes_on;                       /* private: the next step is of `going`, if there is one */
    struct event pass;                  /* private: makes these steps */
    struct event timer;                 /* private: the oldest has had its time */
};

// Begins without sockets. The arguments must outlive it. Each handshake may take `timeout_for`.
void handshakes_init(struct handshakes *handshakes, struct event_base *base,
                     const struct handshakes_host *host, void *context, nsec_t timeout_for);

// Sets the time limit, also of handshakes that have begun.
void handshakes_set_timeout(struct handshakes *handshakes, nsec_t timeout_for);

// Owns a socket, which does not block, for a transport with a handshake; `shared` is the
// transport's state for the service. `service` and `peer`, which is copied, are passed to the host.
// Without memory, host.failed is called at once.
void handshakes_add(struct handshakes *handshakes, const struct transport *transport, void *shared,
                    const void *service, int fd, const char *peer);

// Gives up handshakes whose time is over, a limited number at once. The base's timer calls it.
void handshakes_expire(struct handshakes *handshakes);

// Closes all sockets without telling the host, and leaves no event in the base. A zeroed one is
// allowed.
void handshakes_close(struct handshakes *handshakes);

#endif
