/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_PARSE_H
#define TANDEM_PROTO_BEANSTALK_PARSE_H

// A command line, without its CRLF, turned into a verb and its arguments. Nothing is changed and
// nothing is copied: a name is a slice of the line.
//
// Commands are matched by prefix, as beanstalkd does, and clients can see that: `reservefoo` is a
// malformed `reserve` and `quitter` quits, while `put` without its space is no command at all.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// The longest line, its CRLF counted.
#define BEAN_LINE_MAX 224
// The longest tube name.
#define BEAN_NAME_MAX 200

// A line is compared with the commands in this order: those that clients send most come first, and
// what begins with the whole of another one stands before it.
enum bean_verb {
    BEAN_UNKNOWN,
    BEAN_PUT,
    BEAN_DELETE,
    BEAN_RESERVE_WITH_TIMEOUT,
    BEAN_RESERVE_JOB,
    BEAN_RESERVE,
    BEAN_RELEASE,
    BEAN_TOUCH,
    BEAN_BURY,
    BEAN_USE,
    BEAN_WATCH,
    BEAN_IGNORE,
    BEAN_KICK,
    BEAN_KICK_JOB,
    BEAN_PEEK,
    BEAN_PEEK_READY,
    BEAN_PEEK_DELAYED,
    BEAN_PEEK_BURIED,
    BEAN_STATS_JOB,
    BEAN_STATS_TUBE,
    BEAN_STATS,
    BEAN_LIST_TUBES_WATCHED,
    BEAN_LIST_TUBES,
    BEAN_LIST_TUBE_USED,
    BEAN_PAUSE_TUBE,
    BEAN_QUIT,
    BEAN_VERBS
};

enum bean_verdict {
    BEAN_GOOD,
    BEAN_BAD,        // malformed
    BEAN_BAD_COUNTED // malformed, but counted among the commands all the same: a `put` with text
                     // after its numbers (its size is checked before), a `pause-tube` of a name
                     // that no tube can have
};

struct bean_command {
    enum bean_verb verb;
    enum bean_verdict verdict;
    uint64_t id;
    uint32_t pri;
    uint32_t delay;   // seconds; also how long a pause lasts
    uint32_t ttr;     // seconds that a reserved job is its holder's (a visibility time-out)
    uint32_t bytes;   // of the body that follows
    uint32_t bound;   // the most jobs that a `kick` kicks
    uint32_t timeout; // seconds
    struct slice name;
};

// Fills in what the verb has; the other fields are left as they are. A line that contains NUL or
// is no command has the verb BEAN_UNKNOWN, with the verdict BEAN_BAD or BEAN_GOOD.
void bean_parse(struct slice line, struct bean_command *command);

// Whether `name` is a name that beanstalk can spell.
bool bean_name_valid(struct slice name);

#endif
