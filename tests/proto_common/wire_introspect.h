/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_INTROSPECT_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_INTROSPECT_H

// Introspection (proto_common/introspect.h) whose results are fields, which a test may change at
// any time:
//
//   static struct wire_introspect introspect;
//   wire_introspect_init(&introspect);
//   options.introspect = &introspect.introspect;
//   rig = rig_new(&options);
//   introspect.broker = rig_broker(rig);
//   wire_introspect_add_peer(&introspect, peer);

#include "proto_common/introspect.h"
#include "proto_common/introspect_queues.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_INTROSPECT_PROTOCOLS 4
#define WIRE_INTROSPECT_ADDRESSES 3
#define WIRE_INTROSPECT_SETTINGS 8
#define WIRE_INTROSPECT_PUSHES 120
#define WIRE_INTROSPECT_CONNECTIONS 4000
#define WIRE_INTROSPECT_SECTIONS 20
#define WIRE_INTROSPECT_TEXT 256

struct broker;
struct peer;

// A section of the file, or a policy: one key, `max_jobs`, with this value; NULL: none.
struct wire_section {
    char name[WIRE_INTROSPECT_TEXT];
    const char *origin;
    const char *value;
    const char *why_not;
    bool is_run_time;
    uint64_t position;
};

struct wire_introspect {
    struct introspect introspect; // for rig_options.introspect
    struct introspect_protocol protocols[WIRE_INTROSPECT_PROTOCOLS];
    size_t protocol_count;
    const char
        *addresses[WIRE_INTROSPECT_PROTOCOLS][WIRE_INTROSPECT_ADDRESSES];  // NULL after the last
    struct introspect_connection connections[WIRE_INTROSPECT_CONNECTIONS]; // by rising number
    size_t connection_count;
    struct introspect_loop loop;
    struct introspect_memory memory;
    struct introspect_descriptors descriptors;
    struct introspect_journal journal;
    struct introspect_cluster cluster; // CLUSTER_ALONE at first
    bool hands_over;                   // the result of hand_over()
    unsigned hand_overs;               // the number of calls
    bool is_opening;
    struct restore_progress opening;
    struct introspect_setting settings[WIRE_INTROSPECT_SETTINGS];
    size_t setting_count;
    const char *config_file;
    struct introspect_push pushes[WIRE_INTROSPECT_PUSHES];
    size_t push_count;
    unsigned resumes; // of endpoints
    struct introspect_distribution push_seconds;
    struct schedules *schedules;                            // the test's; NULL at first
    struct wire_section sections[WIRE_INTROSPECT_SECTIONS]; // of the file, kind "queue"
    size_t section_count;
    struct wire_section policies[WIRE_INTROSPECT_SECTIONS];
    size_t policy_count;
    enum status policy_status;                 // the result of changes of policies
    char policy_set[2 * WIRE_INTROSPECT_TEXT]; // the keys of the last change, one after another
    struct broker *broker;                     // its drain() is called; NULL: none
    unsigned drains;                           // the number of calls of drain()
    bool draining;                             // the last of them
    unsigned reloads;                          // the number of calls
    bool reload_fails;
    unsigned logs; // the number of calls of log_commands()
    char logged[WIRE_INTROSPECT_TEXT];
    bool log_fails;
    unsigned steps; // of walks over connections
};

// Sets an example without connections: three protocols and a journal in use. All numbers differ.
void wire_introspect_init(struct wire_introspect *introspect);

// Adds a beanstalk connection, from 127.0.0.1:50000, since second 990. Its number must be above all
// others. The test may change the connection, whose address stays the same.
struct introspect_connection *wire_introspect_add(struct wire_introspect *introspect,
                                                  uint64_t number);

// The same for a peer of a rig: its number, protocol, session and client id.
struct introspect_connection *wire_introspect_add_peer(struct wire_introspect *introspect,
                                                       const struct peer *peer);

// Removes the connection of that number.
void wire_introspect_remove(struct wire_introspect *introspect, uint64_t number);

#endif
