/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_INTROSPECT_H
#define TANDEM_PROTO_COMMON_INTROSPECT_H

// Introspection: the state of the process that a front-end for operators can read, beyond the
// state of the broker (connections, protocols, refusals, loop, journal, memory, settings; in
// introspect_queues.h endpoints and policies), and the acts of operators on the process. It is a
// table of functions, as wire_host is for a connection (wire.h); the server has one, and so have
// tests in memory.
//
// Each function describes the present turn, is called on the loop's thread, and is cheap: constant
// time, or one step of a walk. Texts are borrowed and valid until the turn ends. Counters start at
// 0 with the process and never fall. An unknown number is 0 unless its field says otherwise.

#include "core/base/error_text.h"
#include "core/base/nsec.h"
#include "core/restore.h"
#include "proto_common/refusal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct introspect_policies;
struct introspect_pushes;
struct schedules;
struct session;

//
// The process
//

// A distribution of values: `counts[i]` values are at most `ends[i]` and more than `ends[i - 1]`;
// the last end is INT64_MAX. Values are nanoseconds unless the field says otherwise.
struct introspect_distribution {
    const int64_t *ends;
    const uint64_t *counts;
    size_t buckets;
    uint64_t count;
    uint64_t sum;
};

// A protocol: a front-end of the process.
struct introspect_protocol {
    const char *name;
    uint64_t open;     // connections now
    uint64_t accepted; // connections so far
    uint64_t commands; // lines, packets, requests so far
    uint64_t received; // bytes so far
    uint64_t sent;     // bytes so far
    uint64_t refusals[REFUSAL_COUNT];
};

struct introspect_loop {
    uint64_t turns;
    uint64_t slow_turns; // turns that were logged as slow
    nsec_t longest_for;  // the longest turn of about the last minute
    nsec_t lag_for;      // the longest delay of a due event in about the last minute
    unsigned io_threads;
};

// Memory by kind: the memory that grows by clients' acts, and the whole of the process.
struct introspect_memory {
    uint64_t used, limit; // of server.max_memory; limit 0: none
    uint64_t resident;
    bool is_short;            // new work is refused
    const char *const *kinds; // names, NULL at the end
    const uint64_t *by_kind;  // bytes of each kind; the sum is about `used`
};

struct introspect_descriptors {
    uint64_t open, limit;
};

struct introspect_journal {
    bool enabled;
    const char *directory;
    const char *fsync;
    uint64_t bytes, live, segment_bytes;
    uint64_t segments, oldest, current;
    uint64_t records, migrated;
    uint64_t batches;                             // written
    struct introspect_distribution syncs;         // durations of syncs
    struct introspect_distribution batch_records; // records in a batch; plain numbers
    uint64_t errors;
    bool failing;
    uint64_t disk_free; // bytes; UINT64_MAX: unknown
};

struct introspect_setting {
    const char *section, *key;
    const char *value;         // as in the file; valid until the next call
    const char *default_value; // the value if the file does not set it
    const char *effect;        // one sentence; may be NULL
    bool live;                 // SIGHUP changes it
};

//
// Connections
//

#define INTROSPECT_PEER_MAX 128
#define INTROSPECT_CALLER_MAX 128 // longer ones are cut

struct introspect_connection {
    uint64_t number;                // of the connection, as in the log: rising
    const char *protocol;           // name of the front-end
    char peer[INTROSPECT_PEER_MAX]; // address and port, or "unix"
    bool tls;
    char caller[INTROSPECT_CALLER_MAX]; // role or identity that rules name; empty: none
    const char *client_id;              // the name that a Gearman client gave itself, or NULL
    nsec_t connected_at;                // monotonic
    const struct session *session;      // the core's, for session_info(); NULL: it has none
    uint64_t received, sent;            // bytes
    uint64_t unread;                    // bytes of output that the peer has not read
    uint64_t held;                      // bytes of memory for it, `unread` included
};

//
// Processes that share a journal
//

enum cluster_role {
    CLUSTER_ALONE,   // the journal is not shared
    CLUSTER_OWNER,   // it owns the journal
    CLUSTER_UNSURE,  // it was the owner, and cannot confirm that it still is
    CLUSTER_STANDBY, // it follows the owner, and serves no clients
    CLUSTER_OPENING  // it reads the journal and is far behind, or cannot reach the database
};

// A process that owns or follows the journal.
struct introspect_member {
    const char *node;
    const char *address;
    bool owner;
    bool takes_over; // if the journal has no owner
    bool self;
    uint64_t epoch;
    uint64_t behind; // rows that it has not read yet
    nsec_t seen_for; // since its last sign of life
};

struct introspect_cluster {
    enum cluster_role role; // CLUSTER_ALONE: all other fields are 0
    const char *shard;
    const char *node;  // this process
    const char *owner; // empty: no process owns the journal
    const char *owner_address;
    uint64_t epoch;
    uint64_t since_ms;      // wall clock: when the owner took ownership
    uint64_t seq;           // of the last known row
    uint64_t behind;        // rows that this process has not read yet
    uint64_t takeovers;     // by this process
    nsec_t lease_left_for;  // of the owner's, by this machine's clock; 0: it has expired
    bool connected;         // to the database
    bool durable;           // a commit waits for a disk
    bool replicated;        // a commit waits for a standby of the database, too
    bool required;          // the owner is not ready unless both hold
    bool trusted;           // no warning: the database is safe by other means than these settings
    const char *durability; // the settings of the database that decide these
    const char *why;        // why the database cannot be reached; empty: it can be
    const struct introspect_member *members;
    size_t count;
    uint64_t proxied, proxied_total; // connections passed to the owner: now, and so far
};

//
// The table
//

struct introspect {
    void *host; // the first argument of each function, also of `pushes` and `policies`
    const struct introspect_pushes *pushes;     // introspect_queues.h
    const struct introspect_policies *policies; // introspect_queues.h
    // The protocol of that index; false behind the last one.
    bool (*protocol)(void *host, size_t index, struct introspect_protocol *protocol);
    // An address that the protocol listens at; NULL behind the last one.
    const char *(*address)(void *host, size_t protocol, size_t index);
    // The first connection whose number is above `*after`, which becomes its number; false if there
    // is none. A walk also visits connections that open while it lasts.
    bool (*connection_next)(void *host, uint64_t *after, struct introspect_connection *connection);
    // The connection of that number; false if there is none.
    bool (*connection)(void *host, uint64_t number, struct introspect_connection *connection);
    // The number of the session's connection; 0: unknown.
    uint64_t (*connection_of)(void *host, const struct session *session);
    void (*loop)(void *host, struct introspect_loop *loop);
    void (*memory)(void *host, struct introspect_memory *memory);
    void (*descriptors)(void *host, struct introspect_descriptors *descriptors);
    void (*journal)(void *host, struct introspect_journal *journal);
    // Sets nothing if the journal is not shared. NULL: it never is.
    void (*cluster)(void *host, struct introspect_cluster *cluster);
    // Hands the journal over to another process; this one becomes a standby. False if it does not
    // own a journal that others follow.
    bool (*hand_over)(void *host);
    // True while the journal is being read: the broker has no jobs yet.
    bool (*opening)(void *host, struct restore_progress *progress);
    // The setting of that index, in the order of the manual; false behind the last one.
    bool (*setting)(void *host, size_t index, struct introspect_setting *setting);
    // NULL while the journal is being read.
    struct schedules *(*schedules)(void *host);
    // The path of the configuration file; NULL for none.
    const char *(*config_file)(void *host);
    // Refuses new jobs from now on, or accepts them again, and logs it, as SIGUSR1 does.
    void (*drain)(void *host, bool on);
    // Reads the configuration again, as SIGHUP does, before it returns. If the configuration is
    // wrong, returns false with the reason, and all settings stay.
    bool (*reload)(void *host, struct error_text *why);
    // Logs the commands of connections from that address, or of the connection of that number,
    // until the next call or reload; empty: of no connection. Copies the text. False: no memory.
    bool (*log_commands)(void *host, const char *whose);
};

#endif
