/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_HANDSHAKES_H
#define TANDEM_SERVER_NET_HANDSHAKES_H

// Sockets between being accepted and being connections: those whose transport has a handshake to
// make. Whoever runs an event base has one of these on it, and is told of each socket once, that
// it is done or that it failed.
//
// What strangers can make of it is bounded:
// - a socket from which nothing has come has no state of its transport;
// - no more than HANDSHAKES_BEGUN_MAX handshakes (budget.h) are under way. Where one more is to
//   begin, the one that has waited for its peer the longest is given up;
// - a step of a handshake is made when the socket has what it waits for, in a pass over those that
//   are ready: in turns one that begins and one that goes on, each time the first of its kind. A
//   pass makes HANDSHAKES_STEPS_MAX steps, and begins none when it has lasted HANDSHAKES_FOR. What
//   is left over waits for the next pass, which comes in the base's next round: events of sockets
//   that are connected come in between;
// - a handshake that has not been made in the time that all have is given up.
//
// All functions are called by the thread that runs the base.

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "server/transport/transport.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>

// Who is told. The functions may call handshakes_add(), and no other of these.
struct handshakes_host {
    // A clock that stops while the machine is suspended, as the base's timers do.
    nsec_t (*now)(void);
    // The handshake is made. The socket is the callee's now, and `own`, the transport's state,
    // which is to be moved elsewhere during the call.
    void (*done)(void *context, const void *service, int fd, void *own, const char *peer);
    // It failed, and the socket is closed. `why` is empty where the peer has left without having
    // sent anything.
    void (*failed)(void *context, const void *service, const char *peer, const char *why);
};

struct crowd;

struct handshakes {
    size_t count;                       // of sockets here
    struct crowd *crowd;                // that sockets which are closed here leave; may be set
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

// Starts with none. What is handed in must outlive it. Each handshake has `timeout_for`.
void handshakes_init(struct handshakes *handshakes, struct event_base *base,
                     const struct handshakes_host *host, void *context, nsec_t timeout_for);

// The time that each has, those that have begun, too.
void handshakes_set_timeout(struct handshakes *handshakes, nsec_t timeout_for);

// Takes over a socket, which does not block, for a transport that has a handshake; `shared` is what
// that has for all of its service's sockets. `service` is for the host, and `peer`, which is
// copied, for its log. Without memory `failed` is called at once.
void handshakes_add(struct handshakes *handshakes, const struct transport *transport, void *shared,
                    const void *service, int fd, const char *peer);

// Gives up those that have had their time, though not very many at once. The base's timer sees to
// it.
void handshakes_expire(struct handshakes *handshakes);

// Closes all sockets, of which the host is not told, and leaves no event in the base. A zeroed one
// is allowed.
void handshakes_close(struct handshakes *handshakes);

#endif
