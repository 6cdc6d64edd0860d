/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_WIRE_H
#define TANDEM_PROTO_COMMON_WIRE_H

// A connection, as a front-end sees it. The host (the server, or a test in memory) embeds one in
// its own state of each connection; the front-end sees no socket.
//
// The front-end stages output in `wire->out`, and the host sends it at the end of the turn. If an
// event other than input continues the connection (a job for a blocked reserve), the front-end
// stages its reply and calls wire_wake(); then the host sends, and feeds the stored input.
//
// Staging may fail for lack of memory; the output remembers that, and the host closes the
// connection.

#include "core/base/log.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/grants.h"
#include "core/status.h"

#include "proto_common/output.h"
#include "proto_common/refusal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access;
struct wire;

//
// The caller of a connection, which wire_identify() identifies. At first it is the peer itself;
// after a token, it is the token's owner only. The front-end passes the caller's grants to its
// session, broker_session_grant(), and compares no names.
//

// The identity that a connection claims.
struct wire_claim {
    const struct slice *token; // NULL: none, so the caller is the peer itself
    struct access *also;       // further tokens, of the front-end (access.h); NULL: none
};

enum wire_caller_kind {
    CALLER_ADDRESS, // only the address is known
    CALLER_KNOWN,   // identified as a user of this machine, or by a certificate or a token
    CALLER_UNKNOWN, // the token is invalid: the caller stays as it was
    CALLER_LATER // the token is invalid, after too many from its address: try again at `again_at`
};

struct wire_caller {
    enum wire_caller_kind kind;
    // The caller's rights, for broker_session_grant(); NULL: all rights. Borrowed until the next
    // call of wire_identify() or of frontend->granted. Not set for the last two kinds.
    struct grants *grants;
    nsec_t again_at; // CALLER_LATER: monotonic
};

// Whether the bytes may be a token: printable ASCII without spaces, at least one character.
static inline bool wire_token_valid(struct slice token)
{
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] <= ' ' || token.ptr[i] > '~') {
            return false;
        }
    }
    return token.len > 0;
}

//
// The host
//

struct wire_host {
    // There is output to send, or stored input may be fed again. Only sets a mark. May be called at
    // any time except from within `open` and `close`.
    void (*wake)(struct wire *wire);
    // Closes the connection at the end of the turn, even if output is pending. `why` is a static
    // text for the log. May be called at any time except from within `open` and `close`.
    void (*drop)(struct wire *wire, const char *why);
    // Reads and parses no further input, and closes the connection after its output. May be called
    // at any time except from within `open` and `close`.
    void (*finish)(struct wire *wire);
    // Shuts down the sending side after the output; input is still fed, so that the peer reads the
    // reply before it sees that the connection is closed. Must not be called from within `open` and
    // `close`.
    void (*shut)(struct wire *wire);
    // Writes the peer's address, without a port, and a NUL to `text` of WIRE_PEER_MAX bytes; "-" if
    // it has no address.
    void (*peer)(const struct wire *wire, char *text);
    // Logs, at level warn, that the peer has begun TLS on a port without TLS, with its address and
    // the protocol. The number of these log lines is limited.
    void (*tls_hello)(const struct wire *wire);
    // The same for a peer that has begun with a head of the PROXY protocol.
    void (*proxy_head)(const struct wire *wire);
    // Identifies the caller of the connection. An invalid token counts against the peer's address.
    // May be called at any time except from within `open` and `close`.
    struct wire_caller (*identify)(struct wire *wire, const struct wire_claim *claim);
    // Whether the peer is on this machine: connected by loopback or a unix socket.
    bool (*is_local)(const struct wire *wire);
    // Drops the connection if its memory, for unread output, input and in its front-end, exceeds
    // the host's limit. True: it does. See unread.h. Must not be called from within a function of
    // the front-end.
    bool (*overflows)(struct wire *wire);
    // Counts a refusal on this connection. May be called at any time.
    void (*refused)(struct wire *wire, enum refusal_kind refusal);
    // Logs, at level info, that `what`, of `size` bytes (0: unknown), exceeds the setting. The
    // number of these log lines is limited. May be called at any time.
    void (*too_large)(const struct wire *wire, const char *what, uint64_t size,
                      const char *setting);
    // Logs a command of a traced wire; see wire_log_command().
    void (*command)(const struct wire *wire, struct slice command, struct slice arguments,
                    uint64_t size);
};

// Room for an IPv6 address with its scope, and NUL.
#define WIRE_PEER_MAX 64

// The maximum of wire->number.
#define WIRE_NUMBER_MAX (UINT64_MAX >> 2)

struct wire {
    const struct wire_host *host;
    struct output out;
    nsec_t deadline_at;   // when `expired` is to be called, monotonic; NSEC_NEVER: not at all
    uint64_t number : 62; // of the connection, for log lines
    uint64_t submits : 1; // it has submitted jobs that are stored; see wire_submitted()
    uint64_t traced : 1;  // set by the host: its commands are logged; see wire_log_command()
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

// To be called for each refusal by the front-end, except of an invalid token.
static inline void wire_refused(struct wire *wire, enum refusal_kind refusal)
{
    wire->host->refused(wire, refusal);
}

// To be called, in addition to wire_refused(), if the reason is a setting that limits a size.
static inline void wire_log_too_large(const struct wire *wire, const char *what, uint64_t size,
                                      const char *setting)
{
    wire->host->too_large(wire, what, size, setting);
}

// To be called for each command of a traced wire: its name, its arguments (names and ids, but no
// bodies or tokens), and the size of its body in bytes.
static inline void wire_log_command(const struct wire *wire, struct slice command,
                                    struct slice arguments, uint64_t size)
{
    wire->host->command(wire, command, arguments, size);
}

// The setting that makes a verb return STATUS_JOB_TOO_LARGE.
#define WIRE_QUEUE_JOB_SIZE "max_job_size of the queue"

// As wire_refused() for the status of a verb; logs a job that is too large. A missing job, for
// example, is not a refusal.
void wire_refused_status(struct wire *wire, enum status status);

static inline bool wire_is_local(const struct wire *wire)
{
    return wire->host->is_local(wire);
}

static inline void wire_tls_hello(const struct wire *wire)
{
    wire->host->tls_hello(wire);
}

static inline void wire_proxy_head(const struct wire *wire)
{
    wire->host->proxy_head(wire);
}

static inline void wire_peer(const struct wire *wire, char *text)
{
    wire->host->peer(wire, text);
}

// To be called when a front-end refuses a command: logs its reply at level debug.
static inline void wire_log_refused(const struct wire *wire, struct slice answer)
{
    log_debug("refused", log_number("conn", (int64_t)wire->number), log_text("answer", answer));
}

// To be called when a front-end closes a connection without a reply: logs the reason at level
// debug.
static inline void wire_log_closing(const struct wire *wire, const char *why)
{
    log_debug("closing", log_number("conn", (int64_t)wire->number), log_string("why", why));
}

// Output that is staged from now on waits for this log position of the store (0: does not wait). To
// be called directly before the reply to a verb that has appended to the store, and before a body
// or a result.
static inline void wire_hold(struct wire *wire, uint64_t position)
{
    if (position) {
        output_hold(&wire->out, position);
    }
}

// The same for the reply to a submission. While the store is behind, the host does not read from a
// client that has submitted jobs.
static inline void wire_submitted(struct wire *wire, uint64_t position)
{
    if (position) {
        wire->submits = 1;
        output_hold(&wire->out, position);
    }
}

#endif
