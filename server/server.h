/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SERVER_H
#define TANDEM_SERVER_SERVER_H

#include "core/base/memory.h"
#include "core/broker.h"
#include "proto_common/introspect.h"
#include "server/config/config_introspect.h"
#include "server/config/settings.h"
#include "server/conn/loop_turn.h"
#include "server/log/log_output.h"
#include "server/loop.h"
#include "server/net/admission.h"
#include "server/net/handshakes.h"
#include "server/net/listener.h"
#include "server/process/daemon.h"
#include "server/process/facts.h"
#include "server/process/notify.h"
#include "server/process/pid_file.h"
#include "server/process/signals.h"
#include "server/process/suspend.h"
#include "server/proxy/proxy.h"
#include "server/push_service.h"
#include "server/queue_policies.h"
#include "server/services.h"
#include "server/store/store.h"
#include "server/store_opening.h"

// The process: broker, store, front-ends, listeners and connections on one loop, controlled by
// signals. It starts with everything it needs or not at all: it listens, changes to its user, and
// restores its jobs from the store. Clients that connect meanwhile wait to be accepted, except
// operators. If processes share a store, all but the owner stay at that point as standbys, and a
// process that has lost the store returns there. When the process gets the signal to stop, it
// accepts no new connections; staged replies are sent within STOP_PATIENCE; then all connections
// are closed, and all records are made durable.

// The arguments of a server; borrowed.
struct server_start {
    struct settings *settings;
    const struct settings_source *source; // for a reload
    struct log_output *log;
    struct store_options options;
    const char *spare_pid_file;   // if it cannot be written, the server opens all the same; or NULL
    void (*ready)(void *context); // once, when clients are served here, or by the owner
    void *context;                // of `ready`
};

// The state of a standby.
struct standby {
    bool on;                  // this process is a standby, and the owner is known
    struct store_owner owner; // as logged last
    char own[sizeof((struct store_owner *)0)->address]; // what this process advertises
    nsec_t free_at;      // since when no process owns the store, monotonic; 0: one does
    struct proxy *proxy; // NULL: connections are not passed on
    uint64_t passed;     // connections, by earlier proxies
    uint64_t takeovers;  // how often this process has become the owner
    bool failed;         // it cannot be a standby, because of `why`
    struct error_text why;
};

// What the process may use, as logged last.
struct resources_found {
    unsigned processors;
    uint64_t memory;     // bytes, of the container; 0: no limit
    uint64_t max_memory; // bytes, of the setting in force; 0: no limit
};

#define SERVER_MEMORY_KINDS (MEMORY_OTHER + 1)

// State for introspection.
struct server_introspection {
    struct introspect introspect; // the functions
    nsec_t renew_at;              // when the next two figures are read from the system again
    uint64_t resident;            // bytes
    uint64_t descriptors;         // that are open
    struct config_introspection settings;              // the texts of settings
    const char *memory_kinds[SERVER_MEMORY_KINDS + 1]; // names, NULL behind them
    uint64_t memory[SERVER_MEMORY_KINDS];              // bytes of each
};

struct server {
    struct settings *settings;            /* private */
    const struct settings_source *source; /* private */
    struct log_output *log;               /* private */
    struct store_options options;         /* private */
    void (*ready)(void *context);         /* private */
    void *ready_context;                  /* private */
    bool is_ready;                        /* private: that was told */
    struct store *store;                  /* private: NULL: jobs are in memory only */
    struct standby standby;               /* private */
    nsec_t unsure_at;      /* private: since when ownership is unconfirmed; 0: it is not */
    bool hand_over_wanted; /* private: at the end of the turn */
    struct facts facts;    /* private */
    struct server_introspection introspection; /* private */
    struct broker *broker;                     /* private */
    struct schedules *schedules;               /* private: NULL until all jobs are restored */
    struct background_task schedule_task;      /* private */
    struct loop loop;                          /* private */
    struct peer_limits *peer_limits;           /* private */
    struct proxies *proxies;                   /* private */
    struct listeners listeners;                /* private */
    struct handshakes handshakes;              /* private */
    struct signals signals;                    /* private */
    struct suspend_watch suspend_watch;        /* private */
    struct notifier notifier;                  /* private */
    struct services services;                  /* private */
    struct push_service push_service;          /* private */
    struct queue_policies policies;            /* private */
    struct resources_found found;              /* private */
    uint64_t most_connections;                 /* private */
    unsigned io_threads;                       /* private: their number */
    bool limit_logged;                         /* private: in the log */
    bool inherited[FRONTENDS];                 /* private: protocols with inherited sockets */
    struct pid_file pid_file;                  /* private */
    struct event patience;                     /* private */
    struct opening opening;                    /* private: of the store, at the start */
    unsigned deferred_signals; /* private: signals to handle after the start, as bits */
    bool hangs;                /* private: the store's thread does not end */
    enum {
        SERVER_STARTS,
        SERVER_RUNS,
        SERVER_HANDS_OVER,
        SERVER_RESTARTS, // it starts again as a standby, as another process owns the store
        SERVER_STOPS,
        SERVER_GIVES_UP
    } stage; /* private */
};

// Makes everything ready. EXIT_REASON_NONE, or the reason in `why`; the server must be closed in
// any case. If a signal has stopped it meanwhile, it is not up.
enum exit_reason server_open(struct server *server, const struct server_start *start,
                             struct error_text *why) MUST_USE;
bool server_is_up(const struct server *server);

// Runs until a signal has stopped it. If another process takes the store over, becomes a standby,
// and starts again when it becomes the owner. EXIT_REASON_NONE, or in `why` the reason that it
// cannot.
enum exit_reason server_run(struct server *server, struct error_text *why) MUST_USE;

// It was stopped while the disk did not answer. Then it can only remove the files that other
// processes would find, and the process ends without anything else.
bool server_hangs(const struct server *server);
void server_leave(struct server *server);

// Frees everything. False if not all records could be made durable.
bool server_close(struct server *server) MUST_USE;

#endif
