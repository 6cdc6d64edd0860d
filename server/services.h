/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SERVICES_H
#define TANDEM_SERVER_SERVICES_H

// The front-ends at work in this process: what each shares among its connections, from before the
// first connection to after the last one. With TLS or without, the connections of a protocol share
// the same.

#include "core/broker.h"
#include "server/config/frontends.h"
#include "server/config/settings.h"
#include "server/conn/conn.h"
#include "server/transport/tls.h"

struct services {
    struct service each[FRONTENDS];       // in the order of `frontends`
    struct service tls_each[FRONTENDS];   // with TLS, once that is open
    struct pace_limits limits[FRONTENDS]; // that their connections have
    struct service_counters counters[FRONTENDS];
    size_t started;                           /* private: those that must be stopped */
    struct tls *tls;                          /* private: NULL until it is open */
    struct tls_service tls_shared[FRONTENDS]; /* private */
};

// Starts all, whose connections take part in the turn: those that administer with the turn's
// broker, the others with `broker`. False with the reason in `why`; those that were started are to
// be stopped in any case.
bool services_start(struct services *services, const struct settings *settings,
                    struct broker *broker, const struct process_facts *facts, struct turn *turn,
                    struct error_text *why) MUST_USE;

// The turn has another broker now, and no connection: starts those that administer with that.
// `settings` and `facts` are as at the start. False with the reason in `why`.
bool services_move(struct services *services, const struct settings *settings,
                   const struct process_facts *facts, struct error_text *why) MUST_USE;

// Has TLS ready for connections, if it is not yet. False with the reason in `why`.
bool services_open_tls(struct services *services, const struct tls_settings *settings,
                       struct error_text *why) MUST_USE;

// Whether that was called for.
bool services_have_tls(const struct services *services);

// All jobs are back.
void services_opened(const struct services *services);

// Jobs have come back that were accepted on the host of that name.
void services_name_host(const struct services *services, const char *host);

// Takes over the time that clients may take. True: one of these limits is another now.
bool services_limit(struct services *services, const struct settings *settings);

// The settings were read again: reads the files that they name, as far as front-ends and, where it
// is open, TLS use them. False with the reason in `why`; nothing has changed then. Otherwise
// services_reload() or services_discard() must follow.
bool services_prepare(struct services *services, const struct settings *fresh,
                      struct error_text *why) MUST_USE;

// What was prepared holds, with the settings.
void services_reload(struct services *services);

// What was prepared, if anything was, is thrown away.
void services_discard(struct services *services);

// Stops those that were started; they can be started again, and TLS stays open. Nobody is
// connected.
void services_rest(struct services *services);

// Stops those that were started. Zeroed services are allowed.
void services_stop(struct services *services);

#endif
