/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_PACE_H
#define TANDEM_PROTO_COMMON_PACE_H

// How long a peer may take. A front-end says what its connection expects of the peer, and by what
// time (frontend->pace, frontend->limits); its host keeps a `struct patience` for a connection that
// has such a limit, and tells the front-end when the peer is too late (frontend->overdue). It is
// the same for all front-ends, and beside wire->deadline_at, which is the front-end's own.
//
// - A connection is idle while a command is due and all output was taken. It may be idle for
//   idle_for; whatever happens on it begins that anew.
// - Of what has begun (a line, a packet, a body) each PACE_STEP bytes, or the rest where that is
//   less, may take body_for.
// - While the host does not read, nothing is expected of the peer.
//
// Nothing is armed anew for each command: the host looks again at the moment that it was told
// first, and finds out then what is left.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_STEP 1024

// What is expected of the peer.
enum pace_kind {
    PACE_FREE, // nothing, or the front-end sees to it by wire->deadline_at
    PACE_BUSY, // it waits for something, or works on it; but what it has begun it has to end
    PACE_NEXT, // the next command
    PACE_BODY  // the rest of something that the front-end has taken the beginning of
};

struct pace {
    enum pace_kind kind;
    bool begun; // PACE_BODY: it is another one than when it was asked for the last time
};

// How long that may take; 0: any time.
struct pace_limits {
    nsec_t idle_for;
    nsec_t body_for;
};

// What a host knows of a connection.
struct pace_view {
    nsec_t now_at;
    struct pace pace;
    bool reads;        // input is read and fed as it comes
    bool unread;       // output waits for the peer
    size_t kept;       // bytes of input that the front-end could not use yet
    uint64_t received; // since the connection began, or since some moment behind that
};

enum pace_verdict { PACE_KEPT, PACE_IDLE_OVER, PACE_BODY_OVER };

// All zero but for `part_at`: NSEC_NEVER.
struct patience {
    nsec_t look_at;     // when the host is to look; NSEC_NEVER: not at all
    nsec_t active_at;   /* private: when something happened last */
    nsec_t part_at;     /* private: since when the next bytes are waited for; NSEC_NEVER: not */
    uint64_t part_from; /* private: how many had been received then */
    uint64_t received;  /* private: at the last look, as the following */
    size_t kept;        /* private */
    bool in_body;       /* private */
};

// Whether something has begun and is not complete.
static inline bool pace_in_part(const struct pace_view *view)
{
    return view->reads &&
           (view->pace.kind == PACE_BODY || (view->kept > 0 && view->pace.kind != PACE_FREE));
}

// Something has happened on the connection. Sets `look_at`, where it is not set yet to a moment
// before.
void patience_note(struct patience *patience, const struct pace_limits *limits,
                   const struct pace_view *view);

// Before patience_look(), where the machine has been suspended until that moment; 0: it has not.
// The peer could not be heard until then, and has its time from then on.
void patience_resumed(struct patience *patience, nsec_t woke_at);

// The moment has come. Whether the peer is too late; where it is not, sets `look_at` anew.
enum pace_verdict patience_look(struct patience *patience, const struct pace_limits *limits,
                                const struct pace_view *view);

#endif
