/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SERVICES_H
#define TANDEM_SERVER_SERVICES_H

// The front-ends of this process, and the state that the connections of each share, from before the
// first connection to after the last one. All connections of a protocol share the same, with TLS or
// without, by proxies or not.

#include "core/broker.h"
#include "server/config/settings.h"
#include "server/conn/conn.h"
#include "server/net/proxied.h"
#include "server/transport/tls.h"

// Other ways by which connections of a protocol come than plain ones.
enum service_way {
    SERVICE_TLS,         // after services_open_tls()
    SERVICE_PROXIED,     // by a proxy that names its clients
    SERVICE_PROXIED_TLS, // the same with TLS, after services_open_tls()
    SERVICE_MEMBER,      // from another broker of the cluster, which may name its clients
    SERVICE_MEMBER_TLS   // the same with TLS, after services_open_tls()
};
#define SERVICE_WAYS 5

struct services {
    struct service each[FRONTENDS];               // in the order of `frontends`
    struct service ways[SERVICE_WAYS][FRONTENDS]; // the same by other ways
    // For connections that a standby passes on: only the head is read.
    struct proxied_service head_alone;
    struct proxied_service head_or_none;
    struct pace_limits limits[FRONTENDS]; // of their connections
    struct service_counters counters[FRONTENDS];
    size_t started;                           /* private: front-ends that must be stopped */
    struct tls *tls;                          /* private: NULL until it is open */
    struct proxies *proxies;                  /* private */
    struct tls_service tls_shared[FRONTENDS]; /* private */
    struct proxied_service proxied_shared[SERVICE_WAYS][FRONTENDS]; /* private */
    struct peer_limits *peer_limits;                                /* private */
};

// Names the proxies, and the limits that their clients enter; both must outlive the services.
// Called once, before services_start().
void services_set_proxies(struct services *services, struct proxies *proxies,
                          struct peer_limits *peer_limits);

// Starts all front-ends; their connections belong to the turn. Those that administer use the turn's
// broker, the others `broker`. False with the reason in `why`; services_stop() must follow in any
// case.
bool services_start(struct services *services, const struct settings *settings,
                    struct broker *broker, const struct process_facts *facts, struct turn *turn,
                    struct error_text *why) MUST_USE;

// The turn has another broker, and no connection: restarts the front-ends that administer with that
// broker. `settings` and `facts` are those of the start. False with the reason in `why`.
bool services_move(struct services *services, const struct settings *settings,
                   const struct process_facts *facts, struct error_text *why) MUST_USE;

// Loads TLS, unless it is loaded. False with the reason in `why`.
bool services_open_tls(struct services *services, const struct tls_settings *settings,
                       struct error_text *why) MUST_USE;

// Whether TLS is loaded.
bool services_have_tls(const struct services *services);

// Tells the front-ends that all jobs are restored.
void services_opened(const struct services *services);

// Tells the front-ends that restored jobs were accepted on the host of that name.
void services_name_host(const struct services *services, const char *host);

// Applies the time limits of clients. True: one has changed.
bool services_limit(struct services *services, const struct settings *settings);

// The settings were read again: reads the files that they name, for front-ends and for TLS if it is
// loaded. False with the reason in `why`: nothing has changed. Otherwise services_reload() or
// services_discard() must follow.
bool services_prepare(struct services *services, const struct settings *fresh,
                      struct error_text *why) MUST_USE;

// Applies what was prepared, together with the settings.
void services_reload(struct services *services);

// Discards what was prepared, if anything.
void services_discard(struct services *services);

// Stops the front-ends; they can be started again, and TLS stays loaded. All connections must be
// closed.
void services_rest(struct services *services);

// Stops the front-ends and frees TLS. Zeroed services are allowed.
void services_stop(struct services *services);

#endif
