/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_SIGHT_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_SIGHT_H

// A process that shows itself as a test wants it to (proto_common/sight.h). All is in fields: the
// test changes what it is about, at any time.
//
//   static struct wire_sight sight;
//   wire_sight_init(&sight);
//   rig = rig_new(&(struct rig_options){.frontend = &admin_frontend, .sight = &sight.sight});
//   sight.broker = rig_broker(rig);
//   wire_sight_add_peer(&sight, peer);

#include "proto_common/sight.h"
#include "proto_common/sight_policies.h"
#include "proto_common/sight_push.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_SIGHT_PROTOCOLS 4
#define WIRE_SIGHT_ADDRESSES 3
#define WIRE_SIGHT_SETTINGS 8
#define WIRE_SIGHT_PUSHES 120
#define WIRE_SIGHT_CONNECTIONS 4000
#define WIRE_SIGHT_SECTIONS 20
#define WIRE_SIGHT_TEXT 256

struct broker;
struct peer;

// A section of the file, or a policy: one key, `max_jobs`, that says `value`; NULL: nothing.
struct wire_section {
    char name[WIRE_SIGHT_TEXT];
    const char *origin;
    const char *value;
    const char *why_not;
    bool is_run_time;
    uint64_t position;
};

struct wire_sight {
    struct sight sight; // for rig_options.sight
    struct sight_protocol protocols[WIRE_SIGHT_PROTOCOLS];
    size_t protocol_count;
    const char *addresses[WIRE_SIGHT_PROTOCOLS][WIRE_SIGHT_ADDRESSES]; // NULL behind the last
    struct sight_connection connections[WIRE_SIGHT_CONNECTIONS];       // by rising number
    size_t connection_count;
    struct sight_loop loop;
    struct sight_memory memory;
    struct sight_descriptors descriptors;
    struct sight_journal journal;
    struct sight_cluster cluster; // alone at first
    bool hands_over;              // what is answered to whoever asks for it
    unsigned hand_overs;          // how often that was
    bool is_opening;
    struct sight_opening opening;
    struct sight_setting settings[WIRE_SIGHT_SETTINGS];
    size_t setting_count;
    const char *config_file;
    struct sight_push pushes[WIRE_SIGHT_PUSHES];
    size_t push_count;
    unsigned resumes; // of endpoints
    struct sight_distribution push_seconds;
    struct schedules *schedules;                       // the test's; NULL at first
    struct wire_section sections[WIRE_SIGHT_SECTIONS]; // of the file, kind "queue"
    size_t section_count;
    struct wire_section policies[WIRE_SIGHT_SECTIONS];
    size_t policy_count;
    enum status policy_status;            // what is answered to changes of them
    char policy_set[2 * WIRE_SIGHT_TEXT]; // what was last to be set: its keys, one after another
    struct broker *broker;                // that drains when it is told to; NULL: none
    unsigned drains;                      // how often it was told to begin or to end
    bool draining;                        // which was the last
    unsigned reloads;                     // how often it was told to
    bool reload_fails;
    unsigned logs; // how often it was told whose commands to log
    char logged[WIRE_SIGHT_TEXT];
    bool log_fails;
    unsigned steps; // of walks over connections
};

// An example of everything, without a connection: three protocols and a journal that is at work, no
// two numbers alike.
void wire_sight_init(struct wire_sight *sight);

// Another connection, whose number must be above those before: of beanstalk, from 127.0.0.1:50000,
// connected at second 990. It is the test's to change, and stays where it is.
struct sight_connection *wire_sight_add(struct wire_sight *sight, uint64_t number);

// The same for a peer of a rig: its number, protocol, session and client id.
struct sight_connection *wire_sight_add_peer(struct wire_sight *sight, const struct peer *peer);

// The connection of that number has gone.
void wire_sight_remove(struct wire_sight *sight, uint64_t number);

#endif
