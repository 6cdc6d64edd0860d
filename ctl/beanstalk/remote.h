/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_REMOTE_H
#define TANDEM_CTL_BEANSTALK_REMOTE_H

// A pipelined connection to a beanstalk server: commands are buffered and sent while replies are
// awaited, and early replies are buffered.
//
// The server is not trusted: the length of a line is limited, that of a body is limited by the
// caller, and at most REMOTE_AHEAD bytes of other input are buffered. If the server disconnects,
// times out or violates the protocol, the problem is set and the connection is unusable.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "ctl/api/problem.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The longest line of a reply, without the body.
#define REMOTE_LINE_MAX 1024
#define REMOTE_AHEAD ((size_t)1 << 20)

// The address of a beanstalk server: beanstalk://HOST:PORT; the default port is 11300. A zeroed
// address may be freed.
struct remote_address {
    struct text host; // without the brackets of an IPv6 address
    struct text port;
    struct text name; // host:port, for messages and file names
};

// Parses an address with its scheme. False with a problem of OUTCOME_USAGE.
bool remote_address_read(struct remote_address *address, const char *from, struct problem *problem);
void remote_address_free(struct remote_address *address);

struct remote;

// `timeout` in seconds, for connecting and for each wait. The address and the problem must outlive
// the connection; the functions below report failures in that problem.
bool remote_open(struct remote **remote, const struct remote_address *address, double timeout,
                 struct problem *problem);
void remote_close(struct remote *remote);

// The clock of timeouts.
nsec_t remote_now(void);

// host:port
const char *remote_name(const struct remote *remote);

// Buffers a command and CRLF.
void remote_put(struct remote *remote, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Buffers a body and CRLF.
void remote_put_body(struct remote *remote, struct slice body);

// Waits for the next line, without its CRLF, which is valid until the next call.
bool remote_line(struct remote *remote, struct slice *line);
// Waits for a body of `len` bytes and its CRLF. Valid until the next call.
bool remote_body(struct remote *remote, uint64_t len, struct slice *body);
// Waits for a body and discards it.
bool remote_skip_body(struct remote *remote, uint64_t len);

// Sets the problem, with the server's name as a prefix. Returns false.
bool remote_fail(const struct remote *remote, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

//
// Replies: a word, followed by numbers
//

struct remote_reply {
    char line[96];       // start of the line, for messages
    char word[32];       // empty if the word is longer
    uint64_t numbers[2]; // the numbers after the word
    size_t count;        // of `numbers`
};

// The limit of a document: larger than statistics with the most possible tubes.
#define REMOTE_DOCUMENT_MAX ((uint64_t)64 * 1024 * 1024)

// False with a problem, as do the functions below.
bool remote_reply_read(struct remote *remote, struct remote_reply *reply);
bool remote_reply_is(const struct remote_reply *reply, const char *word);

// Sets a problem that quotes the unexpected reply. Returns false.
bool remote_reply_unexpected(const struct remote *remote, const struct remote_reply *reply,
                             const char *command);

// Reads a reply that must have this word and `count` numbers. Any other reply is a problem.
bool remote_reply_expect(struct remote *remote, const char *command, const char *word, size_t count,
                         struct remote_reply *reply);

// Reads the reply to a command for statistics or a list. `found` is false after NOT_FOUND. The
// document is valid until the next call.
bool remote_reply_document(struct remote *remote, const char *command, struct slice *document,
                           bool *found);

#endif
