/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FRONTEND_H
#define TANDEM_PROTO_COMMON_FRONTEND_H

// A front-end translates the bytes of one protocol into verbs of the broker and back. It is a table
// of functions that its host (the server, or a test in memory) calls; it never sees a socket, only
// a wire (wire.h). One broker may have several front-ends, each with its own state for all its
// connections.

#include "core/base/error_text.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "proto_common/option.h"
#include "proto_common/pace.h"
#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct introspect;

// The facts about the process that a front-end may show to its clients.
struct process_facts {
    int64_t pid;
    nsec_t started_at;    // monotonic
    const char *version;  // of Tandem
    const char *hostname; // these texts stay valid while the front-end runs
    const char *os;       // uname's version
    const char *platform; // uname's machine
    uint64_t instance;    // random, per process
    // The processor time that the process has used so far.
    void (*cpu_time)(nsec_t *user_for, nsec_t *system_for);
    const struct introspect *introspect; // NULL: no introspection
};

// The facts about a connection for operators (introspect.h).
struct frontend_facts {
    const struct session *session; // NULL: none
    const char *client_id; // the name that the client gave itself, any bytes except NUL; NULL:
                           // none. Valid until the client changes it
};

enum feed_state {
    FEED_MORE,     // all complete commands were parsed: more input is needed
    FEED_AGAIN,    // the budget is used up, or a long reply has made a step: feed again in the next
                   // turn
    FEED_BLOCKED,  // nothing is parsed until wire_wake(); `used` may be less than the input
    FEED_FINISHED, // no further input is read; the host closes the connection after its output
};

// The result of a call of `feed`.
struct feed {
    enum feed_state state;
    size_t used; // the number of bytes that were used; the host keeps the others and passes them
                 // again, before the input that arrives later
    // With FEED_MORE, if all input was used: the buffer for the next bytes of the peer, so that a
    // large body is received without a copy. The host then calls `filled`. NULL: none.
    char *into;
    size_t into_len;
    bool dear; // the feed was expensive: other connections go first in the next turn
};

// A feed that has staged this many bytes leaves the next command to the next turn, because replies
// may be much longer than commands. A reply that has begun is completed, so a feed may stage one
// reply more.
#define FEED_STAGED_MAX ((size_t)256 * 1024)

#define FRONTEND_MESSAGE_START 16

struct frontend {
    const char *name;   // of the protocol: the section of the configuration; also in log lines
    const char *listen; // default of the section's `listen` key
    // The names of the protocol for ALPN in TLS handshakes, each after its length (RFC 7301, 3.1),
    // the preferred one first; NULL: none.
    const char *alpn;
    // If set, each message that is sent over TLS begins a new record: some clients take one message
    // from a record, and wait for another record before they read the rest of it. Returns the
    // length of the message that begins with `start`, the next bytes to be sent; 0: it needs more
    // bytes, at most FRONTEND_MESSAGE_START. May be called by any thread. NULL: messages share
    // records.
    size_t (*message_len)(struct slice start);
    // Whether the front-end is for operators. Then it also runs while the store is being opened:
    // `start` is called for an empty broker first, and again, with other shared state, for the
    // restored one. It has connection slots that no other front-end can take, also at unix sockets.
    bool administers;
    const struct option *options; // the other keys of the section; a NULL name ends the table
    size_t options_size;          // of the struct that `options` describes
    size_t shared_size;           // of the state that all connections share
    size_t conn_size; // of the state of a connection; both are zeroed before `start` and `open`

    // Whether the front-end can start with these options, as far as can be known: values that only
    // it understands are valid, and files that they name can be read. If not, sets `*why`, which
    // begins with the key. Called before `start`, and for new options before they take effect. May
    // be NULL.
    bool (*check)(const void *options, struct error_text *why);
    // Called once, before the first connection. The pointers stay valid until `stop`; between
    // turns, the host may change the fields of `options` that are marked live.
    enum status (*start)(void *shared, struct broker *broker, const void *options,
                         const struct process_facts *facts);
    // Called once, after `start` and before the first connection: the broker has been restored. Not
    // called if `administers`. May be NULL.
    void (*opened)(void *shared);
    // Called once, before the first connection, if the journal was created on a host of this name
    // and the present host has another: handles that clients have stored contain the old name, and
    // must stay valid. NULL: the protocol has no handles.
    void (*name_host)(void *shared, const char *host);
    // The number of commands so far: lines, packets, requests.
    uint64_t (*commands)(const void *shared);
    // Called once, after the last connection is closed.
    void (*stop)(void *shared);

    // Called when the settings are read again, whether or not they or the files that they name have
    // changed. `prepare` reads the files of `options`, the new ones, and stores the result
    // separately. False, with `*why`, which names the file and the line: the whole reload fails.
    // Then the host calls either `reload`, which applies the result and cannot fail, or `discard`.
    // `prepare` and `discard` are NULL if there are no files, and `reload` is NULL if a reload has
    // no effect.
    bool (*prepare)(void *shared, const void *options, struct error_text *why);
    void (*discard)(void *shared);
    void (*reload)(void *shared);

    // Background tasks that do not belong to a connection, for example changes of many jobs. `due`
    // is called in each turn, in constant time, and returns the monotonic time of the next slice; a
    // time that has passed means at once, and NSEC_NEVER means none. `work` does the slice; it may
    // call verbs, like a feed. Both are NULL if there are no such tasks.
    nsec_t (*due)(const void *shared);
    void (*work)(void *shared);

    // A connection begins. If the result is not STATUS_OK, the host closes it without calling
    // `close`.
    enum status (*open)(void *conn, void *shared, struct wire *wire);
    // Sets the caller's rights if there are access rules (access.h). Called when the connection
    // begins, and when the rules are read again (broker_session_grant). GRANT_LOST: the connection
    // has lost a right that it waits for, and is dropped. GRANT_MORE: nothing is fed until a
    // further call, with the same grants unless the rules are read again, returns another result.
    enum grant_progress (*granted)(void *conn, struct grants *grants);
    // Feeds stored and new input; none after FEED_AGAIN and after wire_wake(). Parses at most
    // `budget` commands, at least one, and none after it has staged FEED_STAGED_MAX.
    struct feed (*feed)(void *conn, struct slice input, unsigned budget);
    // `len` bytes were written to the buffer of the last feed. Otherwise as `feed` without input.
    struct feed (*filled)(void *conn, size_t len, unsigned budget);
    // The peer has shut down its side; stored input is still fed afterwards. True: the connection
    // continues until all input is used and answered. False: in this protocol, the peer is gone.
    bool (*eof)(void *conn);
    // wire->deadline_at has come. NULL: it is never set.
    void (*expired)(void *conn);
    // The time limits for peers by the options, which may be live. NULL: none; then `pace` and
    // `overdue` are NULL, too.
    void (*limits)(const void *options, struct pace_limits *limits);
    // The present expectation of the peer. Called after activity on the connection, and when a time
    // limit may have passed.
    struct pace (*pace)(void *conn);
    // The peer is too late: stages the protocol's reply for this case, frees a body that was being
    // received, and calls wire_finish(). `kept`: input that the front-end has not used yet. Called
    // only while more input is expected (FEED_MORE).
    void (*overdue)(void *conn, enum pace_result result, struct slice kept);
    // The process is about to stop: no further input is fed, and the connection is closed after its
    // output. A client that waits may be answered now. Called at most once; may be NULL.
    void (*stopping)(void *conn);
    // The memory of the connection in bytes, except its struct and staged output: a body that is
    // being received, a list, a gathered result. Shared memory may be counted several times. Runs
    // in constant time; must not be called from within the other functions.
    size_t (*holds)(const void *conn);
    // The facts for operators. Runs in constant time; may be called at any time.
    struct frontend_facts (*facts)(const void *conn);
    // The connection is closed. Output that is staged here is not sent.
    void (*close)(void *conn);
};

#endif
