/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_LINK_H
#define TANDEM_CTL_BEANSTALK_LINK_H

// A pipelined connection to a beanstalk server: commands are buffered and sent while replies are
// awaited, and early replies are buffered.
//
// The server is not trusted: the length of a line is limited, that of a body is limited by the
// caller, and at most LINK_AHEAD bytes of other input are buffered. If the server disconnects,
// times out or violates the protocol, the problem is set and the link is unusable.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "ctl/api/outcome.h"
#include "ctl/beanstalk/place.h"

#include <stdbool.h>
#include <stdint.h>

// The longest line of a reply, without the body.
#define LINK_LINE_MAX 1024
#define LINK_AHEAD ((size_t)1 << 20)

struct link;

// `timeout` in seconds, for connecting and for each wait. The place and the problem must outlive
// the link; the functions below report failures in that problem.
bool link_open(struct link **link, const struct place *place, double timeout,
               struct problem *problem);
void link_close(struct link *link);

// The clock of timeouts.
nsec_t link_now(void);

// host:port
const char *link_name(const struct link *link);

// Buffers a command and CRLF.
void link_say(struct link *link, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Buffers a body and CRLF.
void link_say_body(struct link *link, struct slice body);

// Waits for the next line, without its CRLF, which is valid until the next call.
bool link_line(struct link *link, struct slice *line);
// Waits for a body of `len` bytes and its CRLF. Valid until the next call.
bool link_body(struct link *link, uint64_t len, struct slice *body);
// Waits for a body and discards it.
bool link_pass_over(struct link *link, uint64_t len);

// Sets the problem, with the server's name as a prefix. Returns false.
bool link_fail(const struct link *link, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
