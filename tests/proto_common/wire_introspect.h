/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_INTROSPECT_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_INTROSPECT_H

// A process that shows itself as a test wants it to (proto_common/introspect.h). All is in fields:
// the test changes what it is about, at any time.
//
//   static struct wire_introspect introspect;
//   wire_introspect_init(&introspect);
//   rig = rig_new(&(struct rig_options){.frontend = &admin_frontend, .introspect =
//   &introspect.introspect}); introspect.broker = rig_broker(rig);
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

// A section of the file, or a policy: one key, `max_jobs`, that says `value`; NULL: nothing.
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
        *addresses[WIRE_INTROSPECT_PROTOCOLS][WIRE_INTROSPECT_ADDRESSES];  // NULL behind the last
    struct introspect_connection connections[WIRE_INTROSPECT_CONNECTIONS]; // by rising number
    size_t connection_count;
    struct introspect_loop loop;
    struct introspect_memory memory;
    struct introspect_descriptors descriptors;
    struct introspect_journal journal;
    struct introspect_cluster cluster; // alone at first
    bool hands_over;                   // what is answered to whoever asks for it
    unsigned hand_overs;               // how often that was
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
    enum status policy_status; // what is answered to changes of them
    char policy_set[2 *
                    WIRE_INTROSPECT_TEXT]; // what was last to be set: its keys, one after another
    struct broker *broker;                 // that drains when it is told to; NULL: none
    unsigned drains;                       // how often it was told to begin or to end
    bool draining;                         // which was the last
    unsigned reloads;                      // how often it was told to
    bool reload_fails;
    unsigned logs; // how often it was told whose commands to log
    char logged[WIRE_INTROSPECT_TEXT];
    bool log_fails;
    unsigned steps; // of walks over connections
};

// An example of everything, without a connection: three protocols and a journal that is at work, no
// two numbers alike.
void wire_introspect_init(struct wire_introspect *introspect);

// Another connection, whose number must be above those before: of beanstalk, from 127.0.0.1:50000,
// connected at second 990. It is the test's to change, and stays where it is.
struct introspect_connection *wire_introspect_add(struct wire_introspect *introspect,
                                                  uint64_t number);

// The same for a peer of a rig: its number, protocol, session and client id.
struct introspect_connection *wire_introspect_add_peer(struct wire_introspect *introspect,
                                                       const struct peer *peer);

// The connection of that number has gone.
void wire_introspect_remove(struct wire_introspect *introspect, uint64_t number);

#endif
