/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BEAN_PARSE_H
#define TANDEM_PROTO_BEANSTALK_BEAN_PARSE_H

// Parses a command line, without its CRLF, into a verb and its arguments. Nothing is copied: a name
// is a slice of the line.
//
// Commands are matched by prefix, as in beanstalkd, and clients can see that: `reservefoo` is a
// malformed `reserve` and `quitter` quits, while `put` without a space is an unknown command.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The longest line, including its CRLF.
#define BEAN_LINE_MAX 224
// The longest tube name.
#define BEAN_NAME_MAX 200
// The longest key of a `put-unique`.
#define BEAN_KEY_MAX 200
// The longest line of a `put-unique`: four numbers and the longest key fit.
#define BEAN_KEY_LINE_MAX 257
// The most jobs that a `reserve-batch` may ask for.
#define BEAN_BATCH_MAX 1000

// A line is compared with the commands in this order: frequent commands come first, and a command
// comes before any shorter command that it begins with.
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
    BEAN_RESERVE_BATCH, // not compared: bean_parse() finds it by the text after `reserve`
    BEAN_VERBS
};

// Whether beanstalkd does not have the command, so that a setting can turn it off. `auth` is always
// on.
static inline bool bean_is_extension(enum bean_verb verb)
{
    return verb >= BEAN_PUT_UNIQUE;
}

enum bean_validity {
    BEAN_GOOD,
    BEAN_BAD, // malformed
    // Malformed, but counted in the statistics: a `put` with text after its numbers, a `put-unique`
    // with an invalid key (its body is skipped), a `pause-tube` with an invalid name.
    BEAN_BAD_COUNTED
};

struct bean_command {
    enum bean_verb verb;
    enum bean_validity validity;
    uint64_t id;
    uint32_t pri;
    uint32_t delay;       // seconds; of a `pause-tube`, how long the pause lasts
    uint32_t ttr;         // seconds; the time to run (visibility timeout)
    uint32_t bytes;       // the length of the body that follows
    uint32_t bound;       // the most jobs for `kick` to kick, or for `reserve-batch` to take
    uint32_t timeout;     // seconds
    uint32_t done, total; // of a `progress`
    struct slice name;
    struct slice token;
    struct slice key; // of a `put-unique`
};

// Parses a line as it is in the input: a CR follows it, and may be read. Sets the fields that the
// verb has and leaves the others unchanged. An unknown command, or a line
// that contains NUL, has the verb BEAN_UNKNOWN and the validity BEAN_GOOD or BEAN_BAD.
void bean_parse(struct slice line, struct bean_command *command);

// Whether the line begins a `put-unique`, which may be longer than other lines.
bool bean_is_put_unique(struct slice line);

// Whether `name` is a valid tube name.
bool bean_name_valid(struct slice name);

#endif
