/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_AGAIN_BED_H
#define TANDEM_TESTS_SERVER_AGAIN_BED_H

// A whole server in a thread of its own, on a store that others may own: whether they do is what
// the test says. Nothing is kept. Another process that owns it is a listening socket of the test's.

#include "core/base/fence.h"
#include "proto_common/introspect.h"
#include "server/server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct again {
    // The state of the store, set by the test at any time.
    atomic_bool owns;       // this process owns it
    atomic_bool other_owns; // if not: the other process does; false: no process
    atomic_bool unsure;
    atomic_uint fails; // the number of times that the store is lost at once
    struct fence fence;
    atomic_bool other_only_follows;      // it would not take over
    atomic_bool other_is_past;           // it was heard of under another owner only
    _Atomic(nsec_t) other_seen_for;      // how long ago it was heard of
    struct introspect_member members[2]; // the loop's
    atomic_bool hand_over;               // has the operator ask for that, once
    // The calls of the server to the store.
    atomic_uint made; // stores, so far
    atomic_bool handed_over;
    atomic_bool yields; // the latest one
    char advertised[512];

    int other; // the other one's listening socket, for beanstalkd's protocol
    char other_address[96];
    struct server server;
    struct settings *settings;
    struct log_output log;
    struct settings_source source;
    pthread_t thread;
    atomic_bool ready;      // was told
    enum exit_reason ended; // with
    struct error_text why;
    char bean[64];  // addresses that it listens at
    char admin[64]; //
};

// A server that serves, or follows the other one, with these settings beside its own; the list ends
// in NULL.
struct again *again_start(bool owns, const char *const *sets);
#define AGAIN_START(owns, ...) again_start(owns, (const char *const[]){__VA_ARGS__, NULL})

// It is told to stop, ends, and is freed.
void again_stop(struct again *again);

// Another process takes the store over, or no process owns it; this process owns it.
void again_lose(struct again *again, bool other_owns);
void again_own(struct again *again);

// A client of beanstalkd's protocol, or of operators'; blocks, but not for ever.
int again_connect(const char *address);
void again_say(int client, const char *text);
void again_expect(int client, const char *text);
// The connection ends, without a further byte.
void again_expect_end(int client);
// Nothing comes for a moment.
void again_expect_silence(int client);

// Connects until it is served.
int again_connect_served(const struct again *again);

// The first connection that the other process accepts whose client says this.
int again_accept_other(const struct again *again, const char *text);

// Waits until that holds.
void again_until(bool (*holds)(const struct again *again), const struct again *again);

// The answer to a GET at the port of operators, or a part of it, in a buffer of the callee's.
const char *again_ask(const struct again *again, const char *path);
// Likewise to a POST.
const char *again_operate(const struct again *again, const char *path);

#endif
