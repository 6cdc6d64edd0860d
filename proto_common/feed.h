/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FEED_H
#define TANDEM_PROTO_COMMON_FEED_H

// The result of feeding the input of a connection to its front-end.

#include <stdbool.h>
#include <stddef.h>

enum feed_state {
    FEED_MORE,     // all complete commands were parsed: more input is needed
    FEED_AGAIN,    // the budget is used up, or a long reply has made a step: feed again in the next
                   // turn
    FEED_BLOCKED,  // nothing is parsed until wire_wake(); `used` may be less than the input
    FEED_FINISHED, // no further input is read; the host closes the connection after its output
};

// The result of a call of `feed`.
struct feed {
    enum feed_state state;
    size_t used; // the number of bytes that were used; the host keeps the others and passes them
                 // again, before the input that arrives later
    // With FEED_MORE, if all input was used: the buffer for the next bytes of the peer, so that a
    // large body is received without a copy. The host then calls `filled`. NULL: none.
    char *into;
    size_t into_len;
    bool dear; // the feed was expensive: other connections go first in the next turn
};

// A feed that has staged this many bytes leaves the next command to the next turn, because replies
// may be much longer than commands. A reply that has begun is completed, so a feed may stage one
// reply more.
#define FEED_STAGED_MAX ((size_t)256 * 1024)

#endif
