/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_SIGHT_H
#define TANDEM_PROTO_COMMON_SIGHT_H

// What the process shows of itself to a front-end for operators, beside what the broker knows: its
// connections, what each protocol has taken and refused, its loop, journal, memory and settings;
// and what operators do to the process. It is a table of functions, as the host is
// to a connection (wire.h): the server has one, and so has a test in memory.
//
// Everything is of the present turn, called on the loop's thread, and cheap: in constant time, or a
// step of a walk. Texts are borrowed, and valid until the turn ends. Counters begin with the
// process and never fall. Until the host says otherwise, a number that is not known is 0.

#include "core/base/nsec.h"

#include "proto_common/sight_cluster.h"
#include "proto_common/sight_connection.h"
#include "proto_common/sight_refusals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedules;
struct session;
struct sight_pushes;

// A distribution of values: `counts[i]` are those up to `ends[i]` and above `ends[i - 1]`; the last
// end is INT64_MAX. Values are nanoseconds, or plain numbers where it says so.
struct sight_distribution {
    const int64_t *ends;
    const uint64_t *counts;
    size_t buckets;
    uint64_t count;
    uint64_t sum;
};

// A protocol: a front-end of the process.
struct sight_protocol {
    const char *name;
    uint64_t open;     // connections now
    uint64_t accepted; // connections so far
    uint64_t commands; // lines, packets, requests so far
    uint64_t received; // bytes so far
    uint64_t sent;
    uint64_t refusals[SIGHT_REFUSAL_COUNT];
};

struct sight_loop {
    uint64_t turns;
    uint64_t slow_turns; // that were logged
    nsec_t longest_for;  // that a turn has taken in the last minute or so
    nsec_t lag_for;      // the most that something due was late in the last minute or so
    unsigned io_threads;
};

// Memory by kind: what clients make grow, and what the whole process has.
struct sight_memory {
    uint64_t used, limit; // of server.max_memory; limit 0: none
    uint64_t resident;
    bool is_short;            // new work is refused
    const char *const *kinds; // names, NULL at the end
    const uint64_t *by_kind;  // bytes each; together `used`, or nearly
};

struct sight_descriptors {
    uint64_t open, limit;
};

struct sight_journal {
    bool enabled;
    const char *directory;
    const char *fsync;
    uint64_t bytes, live, segment_bytes;
    uint64_t segments, oldest, current;
    uint64_t records, migrated;
    uint64_t batches;                        // written
    struct sight_distribution syncs;         // seconds of syncs, as nanoseconds
    struct sight_distribution batch_records; // records in a batch; plain numbers
    uint64_t errors;
    bool failing;
    uint64_t disk_free; // bytes; UINT64_MAX: not known
};

// While the journal is being read at the start.
struct sight_opening {
    uint64_t done, total; // bytes
    uint64_t jobs;
    bool imports; // the journal is read: now jobs of another broker come in
};

struct sight_setting {
    const char *section, *key;
    const char *value;  // as it would stand in the file; valid until it is asked for again
    const char *preset; // without a line for it
    const char *effect; // what it does; may be NULL
    bool live;          // SIGHUP changes it
};

struct sight {
    void *host;                            // what all of these are called with
    const struct sight_pushes *pushes;     // how endpoints are looked at (sight_push.h)
    const struct sight_policies *policies; // and policies of queues (sight_policies.h)
    // The protocol of that index; false behind the last one.
    bool (*protocol)(void *host, size_t index, struct sight_protocol *protocol);
    // The address that the protocol listens at; NULL behind the last one.
    const char *(*address)(void *host, size_t protocol, size_t index);
    // The first connection whose number is above `*after`, which becomes its number; false where
    // there is none. Those that come while a walk lasts are met, too.
    bool (*connection_next)(void *host, uint64_t *after, struct sight_connection *connection);
    // The connection of that number; false where there is none.
    bool (*connection)(void *host, uint64_t number, struct sight_connection *connection);
    // The connection whose session that is; 0: none is known.
    uint64_t (*connection_of)(void *host, const struct session *session);
    void (*loop)(void *host, struct sight_loop *loop);
    void (*memory)(void *host, struct sight_memory *memory);
    void (*descriptors)(void *host, struct sight_descriptors *descriptors);
    void (*journal)(void *host, struct sight_journal *journal);
    // Of a journal that nobody else may have it sets nothing. NULL: there is no other.
    void (*cluster)(void *host, struct sight_cluster *cluster);
    // Has another process take over; this one follows then. False where it is not the owner of a
    // journal that others follow.
    bool (*hand_over)(void *host);
    // True while the journal is being read: nothing of the broker's is there yet.
    bool (*opening)(void *host, struct sight_opening *opening);
    // The setting of that index, in the order of the manual; false behind the last one.
    bool (*setting)(void *host, size_t index, struct sight_setting *setting);
    // The schedules (schedule/schedule.h); NULL while the journal is being read.
    struct schedules *(*schedules)(void *host);
    // The file of the configuration, NULL for none.
    const char *(*config_file)(void *host);
    // From now on new jobs are refused, or accepted again; the log says so, as for SIGUSR1.
    void (*drain)(void *host, bool on);
    // Reads the configuration again, as SIGHUP does, before it returns. False: something in it is
    // wrong, which `why` says in `room` bytes at most, and all stays as it was.
    bool (*reload)(void *host, char *why, size_t room);
    // From now on, until that is said again or the configuration is read again, the commands of
    // connections from that address, or of the connection of that number, are logged; empty: of
    // none. The text is copied. False without memory.
    bool (*log_commands)(void *host, const char *whose);
};

#endif
