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
#include <stddef.h>
#include <stdint.h>

// The longest line, its CRLF counted.
#define BEAN_LINE_MAX 224
// The longest tube name.
#define BEAN_NAME_MAX 200
// The longest key of a `put-unique`.
#define BEAN_KEY_MAX 200
// The longest line of a `put-unique`: four numbers and the longest key fit.
#define BEAN_KEY_LINE_MAX 257
// The most jobs that a `reserve-batch` may ask for.
#define BEAN_BATCH_MAX 1000

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
    BEAN_AUTH,
    BEAN_PUT_UNIQUE,
    BEAN_COMPLETE,
    BEAN_PROGRESS,
    BEAN_CLEAR_TUBE,
    BEAN_RESERVE_BATCH, // is not compared with, but found by what follows `reserve`
    BEAN_VERBS
};

// Whether it is a command that beanstalkd does not have; `auth` is never off.
static inline bool bean_is_extension(enum bean_verb verb)
{
    return verb >= BEAN_PUT_UNIQUE;
}

enum bean_verdict {
    BEAN_GOOD,
    BEAN_BAD,        // malformed
    BEAN_BAD_COUNTED // malformed, but counted among the commands all the same: a `put` with text
                     // after its numbers (its size is checked before), a `put-unique` whose key is
                     // none (its body is passed over), a `pause-tube` of a name that no tube can
                     // have
};

struct bean_command {
    enum bean_verb verb;
    enum bean_verdict verdict;
    uint64_t id;
    uint32_t pri;
    uint32_t delay;       // seconds; also how long a pause lasts
    uint32_t ttr;         // seconds that a reserved job is its holder's (a visibility time-out)
    uint32_t bytes;       // of the body that follows
    uint32_t bound;       // the most jobs that a `kick` kicks, or a `reserve-batch` takes
    uint32_t timeout;     // seconds
    uint32_t done, total; // of a `progress`
    struct slice name;
    struct slice token;
    struct slice key; // of a `put-unique`
};

// Fills in what the verb has; the other fields are left as they are. A line that contains NUL or
// is no command has the verb BEAN_UNKNOWN, with the verdict BEAN_BAD or BEAN_GOOD.
void bean_parse(struct slice line, struct bean_command *command);

// Whether it begins a `put-unique`, which may be longer than other lines.
bool bean_is_put_unique(struct slice line);

// Whether `name` is a name that beanstalk can spell.
bool bean_name_valid(struct slice name);

#endif
