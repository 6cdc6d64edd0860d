/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FEED_H
#define TANDEM_PROTO_COMMON_FEED_H

// What a front-end answers when the host feeds it the input of a connection.

#include <stdbool.h>
#include <stddef.h>

enum feed_state {
    FEED_MORE,     // all that can be parsed is parsed: wants more input
    FEED_AGAIN,    // the budget is spent, or a long answer has made a step: feed again next turn
    FEED_BLOCKED,  // parses nothing until it calls wire_wake(); `used` may be less than the input
    FEED_FINISHED, // nothing more is read; close when the output has left
};

// What a call of `feed` answers.
struct feed {
    enum feed_state state;
    size_t used; // bytes of the input that are done with; the host keeps the others and passes them
                 // again, in front of what arrives later
    // With FEED_MORE and all input used: where the next bytes of the peer may be put directly, so
    // that a large body is received in its place; the host then calls `filled`. NULL: nowhere.
    char *into;
    size_t into_len;
    bool dear; // it took so much of the budget that others go first the next time
};

// What one feed stages at most before it leaves the next command to the next turn: answers may be
// much longer than what is asked, and no more than about this leaves in a turn. What has begun is
// finished, so that a feed may stage one answer more.
#define FEED_STAGED_MAX ((size_t)256 * 1024)

#endif
