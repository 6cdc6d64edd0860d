/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FRONTEND_H
#define TANDEM_PROTO_COMMON_FRONTEND_H

// A front-end turns the bytes of one protocol into verbs of the broker and back. It is a table of
// functions: the host (the server, or a test in memory) calls them, and they never see a socket,
// only a wire (wire.h). One broker may have several front-ends; what the connections of one share
// is its own.

#include "core/base/error_text.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "proto_common/feed.h"
#include "proto_common/option.h"
#include "proto_common/pace.h"
#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct introspect;

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
    const struct introspect *introspect; // what it shows its operators; NULL: nothing
};

// What operators are told of a connection (introspect.h).
struct frontend_about {
    const struct session *session; // NULL: it has none
    const char *client_id; // what it calls itself, as it says it: any bytes but NUL; NULL: nothing.
                           // Valid until the connection says otherwise
};

#define FRONTEND_MESSAGE_START 16

struct frontend {
    const char *name;   // of the protocol: the section of the configuration, and in log lines
    const char *listen; // default of the section's `listen` key
    // What the protocol is called in a TLS handshake, each name behind its length (RFC 7301, 3.1),
    // the one that we like best first; NULL: nothing.
    const char *alpn;
    // Has each message that leaves by TLS begin a record of its own: some clients take one message
    // from a record, and wait for another record before they look at what else was in it. The
    // length of the message that begins with `start`, the next bytes to leave; 0: more of them must
    // be seen, at most FRONTEND_MESSAGE_START. Called by any thread. NULL: messages share records.
    size_t (*message_len)(struct slice start);
    // Whether those who run the process come by it. It is served while the store is being opened
    // (its `start` is called for an empty broker first, and again, with other shared state, for the
    // one that has its jobs back), and has seats that no other front-end can take, at unix sockets,
    // too.
    bool administers;
    const struct option *options; // the section's other keys; ends with a NULL name
    size_t options_size;          // of the struct that `options` describes
    size_t shared_size;           // of the state that all its connections share
    size_t conn_size;             // of the state of one connection; both are handed in zeroed

    // Whether it can begin with these options, as far as can be known: what only it understands
    // makes sense, and files that they name can be read. Otherwise the reason, which begins with
    // the key. Asked before `start`, and of new options before they are taken over. May be NULL.
    bool (*check)(const void *options, struct error_text *why);
    // Once, before the first connection. The pointers stay valid until `stop`; the host may change
    // the fields behind `options` that are marked live, between turns.
    enum status (*start)(void *shared, struct broker *broker, const void *options,
                         const struct process_facts *facts);
    // Once, before the first connection and after `start`: the broker has its jobs back. Not of one
    // that administers. NULL where nothing is to be done about them.
    void (*opened)(void *shared);
    // Once, before the first connection, where the journal began on a host of that name and the
    // present host has another: handles that clients keep begin with the old name, and have to stay
    // good. NULL where the protocol has no handles.
    void (*name_host)(void *shared, const char *host);
    // How many commands there were so far: lines, packets, requests.
    uint64_t (*commands)(const void *shared);
    // Once, after the last connection is closed.
    void (*stop)(void *shared);

    // The settings were read again, whether any has changed or not; files that they name may have.
    // `prepare` reads these as `options`, the new ones, name them, and keeps what it has read
    // aside. False with the reason, which names the file and the line: nothing of the reload holds.
    // Then either `reload` follows, which has all hold and cannot fail, or `discard`. The first and
    // the last are NULL where there is nothing to read, `reload` where a reload means nothing.
    bool (*prepare)(void *shared, const void *options, struct error_text *why);
    void (*discard)(void *shared);
    void (*reload)(void *shared);

    // What it does in the background, whatever its connections do, such as one thing to very many
    // jobs. `due` is asked in each turn, in constant time: the moment at which a slice of that is
    // wanted, monotonic; one that has come means at once, NSEC_NEVER not at all. `work` makes the
    // slice; like a feed, it may call verbs. Both are NULL where there is no such thing.
    nsec_t (*due)(const void *shared);
    void (*work)(void *shared);

    // A connection begins. Without STATUS_OK the host closes it, without calling `close`.
    enum status (*open)(void *conn, void *shared, struct wire *wire);
    // Where there are rules (access.h): what the connection's caller may do from now on. Called
    // when it begins, and when the rules are read again (broker_session_grant). A connection that
    // has lost something which it waits for is dropped: GRANT_LOST. After GRANT_MORE nothing is fed
    // until another call, with the same grants unless the rules are read again, answers something
    // else.
    enum grant_progress (*granted)(void *conn, struct grants *grants);
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
    // How long peers may take, by the options; they may be live. NULL: any time, and then these two
    // are, too.
    void (*limits)(const void *options, struct pace_limits *limits);
    // What is expected of the peer. Asked when something has happened on the connection, and when a
    // time is over.
    struct pace (*pace)(void *conn);
    // It was too late: stages what the protocol has to say to that, frees what has come of a body,
    // and calls wire_finish(). `kept` is input that the front-end could not use yet.
    void (*overdue)(void *conn, enum pace_verdict verdict, struct slice kept);
    // The process is about to stop: nothing more is fed, and the connection is closed when its
    // output has left. A client that waits for something may be answered now. Called at most once;
    // may be NULL.
    void (*stopping)(void *conn);
    // How many bytes of memory are kept for the connection beyond its own struct and what it has
    // staged: of a body on its way, a list, a result that is gathered. The same bytes may be kept
    // for others, too. In constant time; not from within another of these.
    size_t (*holds)(const void *conn);
    // What operators are told of it. In constant time, at any time.
    struct frontend_about (*about)(const void *conn);
    // The connection is gone. Nothing staged here is sent.
    void (*close)(void *conn);
};

#endif
