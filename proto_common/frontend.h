/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FRONTEND_H
#define TANDEM_PROTO_COMMON_FRONTEND_H

// A front-end turns the bytes of one protocol into verbs of the broker and back. It is a table:
// the host (the server, or a test in memory) calls it, and it never sees a socket.
//
// The host keeps a `struct wire` per connection. The front-end stages what it wants to send in
// `wire->out`; the host sends it at the end of the turn. When something other than input moves the
// connection on (a job arrives for a blocked reserve), the front-end stages its reply and calls
// wire_wake(); the host then sends, and feeds the input that it has kept.
//
// A front-end may fail to stage for lack of memory; the output remembers and the host closes.

#include "core/broker.h"
#include "core/base/log.h"
#include "core/base/nsec.h"
#include "proto_common/option.h"
#include "proto_common/output.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
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
};

// Room for an IPv6 address with its scope, and NUL.
#define WIRE_PEER_MAX 64

// What fits wire->number.
#define WIRE_NUMBER_MAX (UINT64_MAX >> 1)

struct wire {
    const struct wire_host *host;
    struct output out;
    nsec_t deadline_at;   // when `expired` is wanted, monotonic; NSEC_NEVER for not at all
    uint64_t number : 63; // of the connection, for log lines
    uint64_t submits : 1; // it has handed in jobs that the store keeps; see wire_submitted()
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

static inline void wire_peer(const struct wire *wire, char *text)
{
    wire->host->peer(wire, text);
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

enum feed_state {
    FEED_MORE,     // all that can be parsed is parsed: wants more input
    FEED_AGAIN,    // the budget is spent, or a long answer has made a step: feed again next turn
    FEED_BLOCKED,  // parses nothing until it calls wire_wake(); `used` may be less than the input
    FEED_FINISHED, // nothing more is read; close when the output has left
};

// What one feed stages at most before it leaves the next command to the next turn: answers may be
// much longer than what is asked, and no more than about this leaves in a turn. What has begun is
// finished, so that a feed may stage one answer more.
#define FEED_STAGED_MAX ((size_t)256 * 1024)

// How much is pending when the feed that begins now has staged as much as it may.
static inline size_t feed_full_at(const struct wire *wire)
{
    return output_pending(&wire->out) + FEED_STAGED_MAX;
}

// What a call of `feed` answers.
struct feed {
    enum feed_state state;
    size_t used; // bytes of the input that are done with; the host keeps the others and passes them
                 // again, in front of what arrives later
    // With FEED_MORE and all input used: where the next bytes of the peer may be put directly, so
    // that a large body is received in its place; the host then calls `filled`. NULL: nowhere.
    char *into;
    size_t into_len;
};

// What a front-end may say about the process to its clients.
struct process_facts {
    int64_t pid;
    nsec_t started_at;    // monotonic
    const char *version;  // of Tandem
    const char *hostname; // these stay valid as long as the front-end runs
    const char *os;       // uname's version
    const char *platform; // uname's machine
    uint64_t instance;    // random, per process
    // The processor time that the process has used so far.
    void (*cpu_time)(nsec_t *user_for, nsec_t *system_for);
};

// Why a front-end cannot begin with the options that it is given.
struct frontend_reason {
    char text[256];
};

struct frontend {
    const char *name;   // of the protocol: the section of the configuration, and in log lines
    const char *listen; // default of the section's `listen` key
    const struct option *options; // the section's other keys; ends with a NULL name
    size_t options_size;          // of the struct that `options` describes
    size_t shared_size;           // of the state that all its connections share
    size_t conn_size;             // of the state of one connection; both are handed in zeroed

    // Whether it can begin with these options, as far as can be known: what only it understands
    // makes sense, and files that they name can be read. Otherwise the reason, which begins with
    // the key. Asked before `start`, and of new options before they are taken over. May be NULL.
    bool (*check)(const void *options, struct frontend_reason *why);
    // Once, before the first connection. The pointers stay valid until `stop`; the host may change
    // the fields behind `options` that are marked live, between turns.
    enum status (*start)(void *shared, struct broker *broker, const void *options,
                         const struct process_facts *facts);
    // Once, before the first connection, where jobs have come back from a journal that began on a
    // host of that name, and this one has another: handles that were given out bear it. NULL where
    // that means nothing.
    void (*name_host)(void *shared, const char *host);
    // Once, after the last connection is closed.
    void (*stop)(void *shared);

    // The settings were read again, whether any has changed or not; files that they name may have.
    // NULL where that means nothing.
    void (*reload)(void *shared);

    // A connection begins. Without STATUS_OK the host closes it, without calling `close`.
    enum status (*open)(void *conn, void *shared, struct wire *wire);
    // Input, kept and new. Called with none after FEED_AGAIN and after wire_wake(). Parses at most
    // `budget` commands (at least one), and no more once it has staged FEED_STAGED_MAX.
    struct feed (*feed)(void *conn, struct slice input, unsigned budget);
    // `len` bytes were put where the last feed wanted them; otherwise as `feed` without input.
    struct feed (*filled)(void *conn, size_t len, unsigned budget);
    // The peer sends nothing more; input that the host has kept is still fed afterwards. True: go
    // on until it is used up and answered; false: to this protocol that means the peer has gone.
    bool (*eof)(void *conn);
    // wire->deadline_at has come. May be NULL where it is never set.
    void (*expired)(void *conn);
    // The process is about to stop: nothing more is fed, and the connection is closed when its
    // output has left. Who waits may be answered now. At most once; may be NULL.
    void (*going)(void *conn);
    // The connection is gone. Nothing staged here is sent.
    void (*close)(void *conn);
};

#endif
