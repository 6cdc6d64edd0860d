/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_LINK_H
#define TANDEM_CTL_BEANSTALK_LINK_H

// A connection to a beanstalk server, on which many commands may be under way: what is said is
// gathered and leaves while answers are waited for, and answers that come early are kept.
//
// The server may say anything. A line is short, a body as long as the caller allows, and of all
// else at most LINK_AHEAD bytes are kept. Where the server is gone, does nothing for the time-out
// or says what no server says, the problem tells so, and the link is of no use any more.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "ctl/api/outcome.h"
#include "ctl/beanstalk/place.h"

#include <stdbool.h>
#include <stdint.h>

// An answer's line, without what follows it.
#define LINK_LINE_MAX 1024
#define LINK_AHEAD ((size_t)1 << 20)

struct link;

// `timeout` in seconds, for the connection and for each wait. The place must outlive it, and so
// must the problem, in which the functions below say why they fail.
bool link_open(struct link **link, const struct place *place, double timeout,
               struct problem *problem);
void link_close(struct link *link);

// The clock by which answers are waited for.
nsec_t link_now(void);

// host:port
const char *link_name(const struct link *link);

// A command; its CRLF is added.
void link_say(struct link *link, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A body, and its CRLF.
void link_say_body(struct link *link, struct slice body);

// Waits for the next line, without its CRLF. Valid until the next call.
bool link_line(struct link *link, struct slice *line);
// Waits for a body of so many bytes, and its CRLF. Valid until the next call.
bool link_body(struct link *link, uint64_t len, struct slice *body);
// The same, where nobody wants it.
bool link_pass_over(struct link *link, uint64_t len);

// Sets the problem, with the server's name before it; returns false.
bool link_fail(const struct link *link, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
