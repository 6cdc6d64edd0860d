/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_WIRE_H
#define TANDEM_PROTO_COMMON_WIRE_H

// A connection, as a front-end sees it. The host (the server, or a test in memory) has one for each
// and embeds it in what it keeps of the connection itself; no front-end sees a socket.
//
// The front-end stages what it wants to send in `wire->out`; the host sends it at the end of the
// turn. When something other than input moves the connection on (a job arrives for a blocked
// reserve), the front-end stages its reply and calls wire_wake(); the host then sends, and feeds
// the input that it has kept.
//
// Staging may fail for lack of memory; the output remembers that, and the host closes the
// connection.

#include "core/base/log.h"
#include "core/base/nsec.h"
#include "core/status.h"

#include "proto_common/caller.h"
#include "proto_common/output.h"
#include "proto_common/refusal.h"

#include <stdbool.h>
#include <stdint.h>

struct wire;

struct wire_host {
    // There is output to send, or kept input may be fed again. May be called at any time but not
    // from within open or close; only sets a mark.
    void (*wake)(struct wire *wire);
    // The connection is closed when the turn ends, whatever is still to be sent; `why` is static
    // and stands in the log. May be called at any time but from within open or close.
    void (*drop)(struct wire *wire, const char *why);
    // Nothing more is read or parsed, and the connection is closed when its output has left. May be
    // called at any time but from within open or close.
    void (*finish)(struct wire *wire);
    // The peer is told that nothing more comes once the output has left; what it sends is still
    // fed, so that it reads the answer before it finds the connection closed. Not from open or
    // close.
    void (*shut)(struct wire *wire);
    // Writes the peer's address, without a port, and a NUL to `text` of WIRE_PEER_MAX bytes; "-"
    // where it has none.
    void (*peer)(const struct wire *wire, char *text);
    // Logs, at warn, that the peer has begun TLS where none is spoken: who it is, and which
    // protocol it met. As there may be many such, not each is logged.
    void (*tls_hello)(const struct wire *wire);
    // Whom the connection speaks for from now on. It counts against the peer's address where the
    // token is none. May be called at any time but from within open or close.
    struct wire_caller (*identify)(struct wire *wire, const struct wire_claim *claim);
    // Whether the peer is on this machine: it came by the loopback or a unix socket.
    bool (*is_local)(const struct wire *wire);
    // Drops the connection where what it keeps, of unread output, of input and in its front-end, is
    // more than the host allows; true: it does. See unread.h. Not from within a function of the
    // front-end.
    bool (*overflows)(struct wire *wire);
    // Something was refused on this connection, which is counted. At any time.
    void (*refused)(struct wire *wire, enum refusal_kind refusal);
    // Logs, at info, that something of so many bytes (0: not known) is larger than the setting
    // allows; `what` it is. As there may be many such, not each is logged. At any time.
    void (*too_large)(const struct wire *wire, const char *what, uint64_t size,
                      const char *setting);
    // Logs a command of a wire that is traced; see wire_log_command().
    void (*command)(const struct wire *wire, struct slice command, struct slice about,
                    uint64_t size);
};

// Room for an IPv6 address with its scope, and NUL.
#define WIRE_PEER_MAX 64

// What fits wire->number.
#define WIRE_NUMBER_MAX (UINT64_MAX >> 2)

struct wire {
    const struct wire_host *host;
    struct output out;
    nsec_t deadline_at;   // when `expired` is wanted, monotonic; NSEC_NEVER for not at all
    uint64_t number : 62; // of the connection, for log lines
    uint64_t submits : 1; // it has handed in jobs that the store keeps; see wire_submitted()
    uint64_t traced : 1;  // the host's: its commands are logged; see wire_log_command()
};

static inline void wire_wake(struct wire *wire)
{
    wire->host->wake(wire);
}

static inline void wire_drop(struct wire *wire, const char *why)
{
    wire->host->drop(wire, why);
}

static inline void wire_finish(struct wire *wire)
{
    wire->host->finish(wire);
}

static inline void wire_shut(struct wire *wire)
{
    wire->host->shut(wire);
}

static inline struct wire_caller wire_identify(struct wire *wire, const struct wire_claim *claim)
{
    return wire->host->identify(wire, claim);
}

// To be called where the front-end refuses something, but for a token that is none.
static inline void wire_refused(struct wire *wire, enum refusal_kind refusal)
{
    wire->host->refused(wire, refusal);
}

// To be called, besides the above, where something is refused because it is larger than a setting
// allows.
static inline void wire_log_too_large(const struct wire *wire, const char *what, uint64_t size,
                                      const char *setting)
{
    wire->host->too_large(wire, what, size, setting);
}

// To be called for each command of a wire that is traced: what it is called, what it is about
// (names and ids, no bodies, no tokens), and how many bytes of a body it has.
static inline void wire_log_command(const struct wire *wire, struct slice command,
                                    struct slice about, uint64_t size)
{
    wire->host->command(wire, command, about, size);
}

// The setting by which a verb answers STATUS_JOB_TOO_LARGE.
#define WIRE_QUEUE_JOB_SIZE "max_job_size of the queue"

// As wire_refused() where a verb has answered so, with a log line for a job that is too large; that
// a job is not there, say, is no refusal.
void wire_refused_status(struct wire *wire, enum status status);

static inline bool wire_is_local(const struct wire *wire)
{
    return wire->host->is_local(wire);
}

static inline void wire_tls_hello(const struct wire *wire)
{
    wire->host->tls_hello(wire);
}

static inline void wire_peer(const struct wire *wire, char *text)
{
    wire->host->peer(wire, text);
}

// To be called where a front-end refuses a command: a log at debug says what it answers.
static inline void wire_log_refused(const struct wire *wire, struct slice answer)
{
    log_debug("refused", log_number("conn", (int64_t)wire->number), log_text("answer", answer));
}

// To be called where a front-end closes a connection without an answer: a log at debug says why.
static inline void wire_log_closing(const struct wire *wire, const char *why)
{
    log_debug("closing", log_number("conn", (int64_t)wire->number), log_string("why", why));
}

// What is staged from now on waits for that position of the store (0: for none). Called right
// before the answer to a verb that has appended to the store, and before a body or a result.
static inline void wire_hold(struct wire *wire, uint64_t position)
{
    if (position) {
        output_hold(&wire->out, position);
    }
}

// The same for the answer to a submission. While the store is behind, the host does not read from
// who hands in more for it.
static inline void wire_submitted(struct wire *wire, uint64_t position)
{
    if (position) {
        wire->submits = 1;
        output_hold(&wire->out, position);
    }
}

#endif
