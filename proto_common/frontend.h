/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FRONTEND_H
#define TANDEM_PROTO_COMMON_FRONTEND_H

// A front-end turns the bytes of one protocol into verbs of the broker and back. It is a table of
// functions: the host (the server, or a test in memory) calls them, and they never see a socket,
// only a wire (wire.h). One broker may have several front-ends; what the connections of one share
// is its own.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "proto_common/feed.h"
#include "proto_common/option.h"
#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    // What the protocol is called in a TLS handshake, each name behind its length (RFC 7301, 3.1),
    // the one that we like best first; NULL: nothing.
    const char *alpn;
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
    // Once, before the first connection, where the journal began on a host of that name and the
    // present host has another: handles that clients keep begin with the old name, and have to stay
    // good. NULL where the protocol has no handles.
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
    // output has left. A client that waits for something may be answered now. Called at most once;
    // may be NULL.
    void (*stopping)(void *conn);
    // The connection is gone. Nothing staged here is sent.
    void (*close)(void *conn);
};

#endif
