/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SERVER_H
#define TANDEM_SERVER_SERVER_H

// The process at work: broker, store, front-ends, listeners and connections on one loop, steered by
// signals. It starts with everything it needs or not at all: it listens, becomes the user that it
// is to be, and takes its jobs back from the journal; clients that come meanwhile wait to be
// accepted, but for operators. Where processes share a journal, those that do not own it stay
// there, and one that has lost it comes back there. It stops when it is told to: no new
// connections, replies that are staged leave within STOP_PATIENCE, the rest is closed, and what the
// journal has been told is made to last.

#include "core/base/memory.h"
#include "core/broker.h"
#include "proto_common/sight.h"
#include "server/config/settings.h"
#include "server/config/shown.h"
#include "server/net/admission.h"
#include "server/net/handshakes.h"
#include "server/net/listener.h"
#include "server/log/log_output.h"
#include "server/loop.h"
#include "server/process/exit_reason.h"
#include "server/process/facts.h"
#include "server/process/notify.h"
#include "server/process/pid_file.h"
#include "server/conn/turn.h"
#include "server/process/signals.h"
#include "server/process/suspend.h"
#include "server/proxy/proxy.h"
#include "server/push_service.h"
#include "server/queue_policies.h"
#include "server/services.h"
#include "server/store.h"
#include "server/store_opening.h"

// What a server is made from; all of it is borrowed.
struct server_start {
    struct settings *settings;
    const struct settings_source *source; // for a reload
    struct log_output *log;
    struct store_options options;
    const char *spare_pid_file;   // where it cannot be had, the server opens all the same; or NULL
    void (*ready)(void *context); // once, when clients are served, or by another process as yet
    void *context;                // of that
};

// A process that follows the journal of another one.
struct standby {
    bool on;                                            // it does, and that other one is known
    struct store_owner owner;                           // as the log has it
    char own[sizeof((struct store_owner *)0)->address]; // what this process advertises
    nsec_t free_at;      // since when nobody owns it, monotonic; 0: somebody does
    struct proxy *proxy; // NULL: connections are passed to nobody
    uint64_t passed;     // connections, by those that there were before
    uint64_t takeovers;  // how often this process has come to own it
    bool failed;         // it cannot, for the reason `why`
    struct error_text why;
};

#define SERVER_MEMORY_KINDS (MEMORY_OTHER + 1)

// What the server has for those it shows itself to.
struct server_introspection {
    struct sight sight;    // the table
    nsec_t renew_at;       // when the system is to be asked for the following again
    uint64_t resident;     // bytes
    uint64_t descriptors;  // that are open
    struct shown settings; // their values
    const char *memory_kinds[SERVER_MEMORY_KINDS + 1]; // their words, NULL behind them
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
    nsec_t unsure_at;                     /* private: since when another may own it; 0: none may */
    bool hand_over_wanted;                /* private: at the end of the turn */
    struct facts facts;                   /* private */
    struct server_introspection shown;    /* private: what operators are shown */
    struct broker *broker;                /* private */
    struct schedules *schedules;          /* private: NULL until all jobs are back */
    struct background_task calendar;      /* private: when their moments come */
    struct loop loop;                     /* private */
    struct peer_limits *peer_limits;      /* private: connections by address */
    struct listeners listeners;           /* private */
    struct handshakes handshakes;         /* private: sockets that are no connections yet */
    struct signals signals;               /* private */
    struct suspend_watch suspend_watch;   /* private */
    struct notifier notifier;             /* private */
    struct services services;             /* private */
    struct push_service push_service;     /* private */
    struct queue_policies policies;       /* private */
    uint64_t most_connections;            /* private */
    bool limit_logged;                    /* private: in the log */
    bool inherited[FRONTENDS];            /* private: those that were handed their sockets */
    struct pid_file pid_file;             /* private */
    struct event patience;                /* private */
    struct opening opening;               /* private: of the store, at the start */
    unsigned deferred_signals;            /* private: that came meanwhile, a bit each */
    bool hangs;                           /* private: the journal's thread cannot be ended */
    enum {
        SERVER_STARTS,
        SERVER_RUNS,
        SERVER_HANDS_OVER,
        SERVER_RESTARTS, // it is to start again, as another owns the journal
        SERVER_STOPS,
        SERVER_GIVES_UP
    } stage; /* private */
};

// Makes everything ready. EXIT_REASON_NONE, or the reason in `why`; the server is to be closed in
// any case. Where a signal has stopped it meanwhile, it is not up.
enum exit_reason server_open(struct server *server, const struct server_start *start,
                             struct error_text *why) MUST_USE;
bool server_is_up(const struct server *server);

// Runs until a signal has stopped it. Where another process has taken the journal over, follows it
// and starts again when it comes to own it. EXIT_REASON_NONE, or the reason in `why` for which it
// cannot.
enum exit_reason server_run(struct server *server, struct error_text *why) MUST_USE;

// It was stopped while the disk does not answer. Then all that can be done is to leave: to let go
// of what others would come across, and to end the process without anything else.
bool server_hangs(const struct server *server);
void server_leave(struct server *server);

// Frees everything. False where not all that the journal was told could be made to last.
bool server_close(struct server *server) MUST_USE;

#endif
