/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_PACE_H
#define TANDEM_PROTO_COMMON_PACE_H

// Time limits for peers. A front-end states what its connection expects of the peer, and for how
// long (frontend->pace, frontend->limits). Its host has a `struct pace_timer` for each connection
// with such a limit, and tells the front-end when the peer is too late (frontend->overdue). This is
// the same for all front-ends; wire->deadline_at is separate, for the front-end's own use.
//
// - A connection is idle while a command is expected and the peer has taken all output. It may be
//   idle for idle_for; any activity restarts this time.
// - Of a line, a packet or a body that has begun, each PACE_STEP bytes, or the rest if that is
//   less, may take body_for.
// - While the host does not read, nothing is expected of the peer.
//
// No timer is set for each command: the host checks at the time that was set first, and then
// computes the remaining time.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_STEP 1024

// What the connection expects of the peer.
enum pace_kind {
    PACE_FREE, // nothing, or the front-end uses wire->deadline_at
    PACE_BUSY, // nothing new: the connection waits or works; but a command that has begun must be
               // completed
    PACE_NEXT, // the next command
    PACE_BODY  // the rest of a command or body that has begun
};

struct pace {
    enum pace_kind kind;
    bool begun; // PACE_BODY: another one has begun since the last call
};

// The limits; 0: none.
struct pace_limits {
    nsec_t idle_for;
    nsec_t body_for;
};

// The state of a connection, as its host knows it.
struct pace_view {
    nsec_t now_at;
    struct pace pace;
    bool reads;        // input is read and fed when it arrives
    bool unread;       // the peer has not taken all output
    size_t kept;       // bytes of input that the front-end has not used yet
    uint64_t received; // bytes, since the connection began or since a later fixed time
};

enum pace_result { PACE_IN_TIME, PACE_IDLE_OVER, PACE_BODY_OVER };

// All zero except `part_at`: NSEC_NEVER.
struct pace_timer {
    nsec_t check_at;    // when the host must check; NSEC_NEVER: not at all
    nsec_t active_at;   /* private: when something happened last */
    nsec_t part_at;     /* private: since when the next bytes are waited for; NSEC_NEVER: not */
    uint64_t part_from; /* private: how many had been received then */
    uint64_t received;  /* private: at the last check, as the following */
    size_t kept;        /* private */
    bool in_body;       /* private */
};

// Whether a command or body has begun and is not complete.
static inline bool pace_in_part(const struct pace_view *view)
{
    return view->reads &&
           (view->pace.kind == PACE_BODY || (view->kept > 0 && view->pace.kind != PACE_FREE));
}

// There was activity on the connection. Sets `check_at`, unless it is already set to an earlier
// time.
void pace_timer_note(struct pace_timer *timer, const struct pace_limits *limits,
                     const struct pace_view *view);

// To be called before pace_timer_check() if the machine was suspended until this time; 0: it was
// not. The peer's time begins at the end of the suspension.
void pace_timer_resumed(struct pace_timer *timer, nsec_t woke_at);

// To be called at `check_at`. Returns whether the peer is too late; if not, sets `check_at` again.
enum pace_result pace_timer_check(struct pace_timer *timer, const struct pace_limits *limits,
                                  const struct pace_view *view);

#endif
