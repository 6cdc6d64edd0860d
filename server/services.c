/* SPDX-License-Identifier: MIT */
#include "server/services.h"

#include "core/base/log.h"
#include "server/conn/loop_turn.h"
#include "server/net/admission.h"

#include <stdlib.h>

// Makes the state that the connections of a protocol share. NULL with the reason in `why`.
static void *service_shared_new(size_t index, struct broker *broker,
                                const struct settings *settings, const struct process_facts *facts,
                                struct error_text *why)
{
    const struct frontend *frontend = frontends[index];
    void *shared = calloc(1, frontend->shared_size ? frontend->shared_size : 1);
    enum status status = STATUS_NO_MEMORY;

    if (shared) {
        status = frontend->start(shared, broker, settings->protocols[index].options, facts);
    }
    if (status != STATUS_OK) {
        free(shared);
        error_set(why, "%s: %s", frontend->name, status_text(status));
        return NULL;
    }
    return shared;
}

static nsec_t service_task_due(const void *context)
{
    const struct service *service = context;

    return service->frontend->due(service->shared);
}

static void service_task_run(void *context)
{
    const struct service *service = context;

    service->frontend->work(service->shared);
}

// The protocol of that index has other state or limits: its connections have the same by all ways.
static void services_share(struct services *services, size_t index)
{
    for (size_t way = 0; way < SERVICE_WAYS; way++) {
        services->ways[way][index].shared = services->each[index].shared;
        services->ways[way][index].limits = services->each[index].limits;
    }
}

void services_set_proxies(struct services *services, struct proxies *proxies,
                          struct peer_limits *peer_limits)
{
    services->proxies = proxies;
    services->peer_limits = peer_limits;
    services->head_alone = (struct proxied_service){.peer_limits = peer_limits};
    services->head_or_none = (struct proxied_service){.peer_limits = peer_limits, .optional = true};
}

// Makes the way by which connections of the protocol come with another transport than plain ones.
static struct service *service_derive(struct services *services, enum service_way way, size_t index,
                                      const struct transport *transport, void *shared)
{
    struct service *service = &services->ways[way][index];

    *service = services->each[index];
    service->transport = transport;
    service->transport_shared = shared;
    service->tls = way == SERVICE_TLS || way == SERVICE_PROXIED_TLS || way == SERVICE_MEMBER_TLS;
    service->io = (struct io_service){.transport = transport,
                                      .shared = shared,
                                      .context = service,
                                      .kind = services->each[index].io.kind,
                                      .for_operators = services->each[index].io.for_operators,
                                      .proxies = services->proxies};
    return service;
}

// The same for a way by which peers name their clients; `inner` is the way behind the head.
static void service_derive_proxied(struct services *services, enum service_way way, size_t index,
                                   struct service *inner)
{
    struct proxied_service *shared = &services->proxied_shared[way][index];
    bool member = way == SERVICE_MEMBER || way == SERVICE_MEMBER_TLS;
    struct service *service = service_derive(services, way, index, &transport_proxied, shared);

    *shared = (struct proxied_service){.inner = inner->transport,
                                       .inner_shared = inner->transport_shared,
                                       .peer_limits = services->peer_limits,
                                       .optional = member};
    service->io.by = member ? PROXIED_BY_MEMBER : PROXIED_BY_PROXY;
    // Operators are served by each broker itself.
    if (member && !service->frontend->administers) {
        inner->io.of_members = &service->io;
    }
}

bool services_start(struct services *services, const struct settings *settings,
                    struct broker *broker, const struct process_facts *facts, struct turn *turn,
                    struct error_text *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        const struct frontend *frontend = frontends[i];
        struct service *service = &services->each[i];

        service->frontend = frontend;
        service->turn = turn;
        service->counters = &services->counters[i];
        service->transport = &transport_plain;
        service->io = (struct io_service){.transport = &transport_plain,
                                          .context = service,
                                          .kind = (unsigned)i,
                                          .for_operators = frontend->administers,
                                          .proxies = services->proxies};
        service->shared = service_shared_new(i, frontend->administers ? turn->broker : broker,
                                             settings, facts, why);
        if (!service->shared) {
            return false;
        }
        service_derive_proxied(services, SERVICE_PROXIED, i, service);
        service_derive_proxied(services, SERVICE_MEMBER, i, service);
        services_share(services, i);
        services->started++;
        if (service->frontend->due) {
            service->task =
                (struct background_task){.due = service_task_due,
                                         .work = service_task_run,
                                         .context = service,
                                         .most = STORE_EASY,
                                         .for_operators = service->frontend->administers};
            turn_add_task(service->turn, &service->task);
        }
    }
    return true;
}

static void service_end(const struct service *service)
{
    service->counters->commands += service->frontend->commands(service->shared);
    service->frontend->stop(service->shared);
    free(service->shared);
}

bool services_move(struct services *services, const struct settings *settings,
                   const struct process_facts *facts, struct error_text *why)
{
    for (size_t i = 0; i < services->started; i++) {
        struct service *service = &services->each[i];
        void *shared;

        if (!service->frontend->administers) {
            continue;
        }
        shared = service_shared_new(i, service->turn->broker, settings, facts, why);
        if (!shared) {
            return false;
        }
        service_end(service);
        service->shared = shared;
        services_share(services, i);
    }
    return true;
}

bool services_open_tls(struct services *services, const struct tls_settings *settings,
                       struct error_text *why)
{
    if (services->tls) {
        return true;
    }
    services->tls = tls_new(settings, why);
    if (!services->tls) {
        return false;
    }
    for (size_t i = 0; i < services->started; i++) {
        services->tls_shared[i] =
            (struct tls_service){.tls = services->tls,
                                 .alpn = services->each[i].frontend->alpn,
                                 .message_len = services->each[i].frontend->message_len};
        struct service *tls =
            service_derive(services, SERVICE_TLS, i, &transport_tls, &services->tls_shared[i]);

        service_derive_proxied(services, SERVICE_PROXIED_TLS, i, tls);
        service_derive_proxied(services, SERVICE_MEMBER_TLS, i, tls);
    }
    return true;
}

bool services_have_tls(const struct services *services)
{
    return services->tls != NULL;
}

void services_opened(const struct services *services)
{
    for (size_t i = 0; i < services->started; i++) {
        const struct service *service = &services->each[i];

        if (service->frontend->opened) {
            service->frontend->opened(service->shared);
        }
    }
}

void services_name_host(const struct services *services, const char *host)
{
    for (size_t i = 0; i < services->started; i++) {
        const struct service *service = &services->each[i];

        if (service->frontend->name_host) {
            service->frontend->name_host(service->shared, host);
        }
    }
}

bool services_limit(struct services *services, const struct settings *settings)
{
    bool changed = false;

    for (size_t i = 0; i < services->started; i++) {
        const struct frontend *frontend = services->each[i].frontend;
        struct pace_limits *limits = &services->limits[i];
        struct pace_limits before = *limits;
        bool limited;

        if (!frontend->limits) {
            continue;
        }
        frontend->limits(settings->protocols[i].options, limits);
        limited = limits->idle_for > 0 || limits->body_for > 0;
        services->each[i].limits = limited ? limits : NULL;
        services_share(services, i);
        changed =
            changed || before.idle_for != limits->idle_for || before.body_for != limits->body_for;
    }
    return changed;
}

void services_discard(struct services *services)
{
    if (services->tls) {
        tls_discard(services->tls);
    }
    for (size_t i = 0; i < services->started; i++) {
        const struct service *service = &services->each[i];

        if (service->frontend->discard) {
            service->frontend->discard(service->shared);
        }
    }
}

bool services_prepare(struct services *services, const struct settings *fresh,
                      struct error_text *why)
{
    // Without a certificate in the new settings, the present one stays in use, as its listener
    // does, until a restart.
    bool good =
        !services->tls || !*fresh->tls.certificate || tls_prepare(services->tls, &fresh->tls, why);

    for (size_t i = 0; good && i < services->started; i++) {
        const struct service *service = &services->each[i];

        if (service->frontend->prepare) {
            good = service->frontend->prepare(service->shared, fresh->protocols[i].options, why);
        }
        if (!good) {
            (void)error_prefix(why, "[%s] ", service->frontend->name);
        }
    }
    if (!good) {
        services_discard(services);
    }
    return good;
}

void services_reload(struct services *services)
{
    if (services->tls) {
        tls_adopt(services->tls);
    }
    for (size_t i = 0; i < services->started; i++) {
        const struct service *service = &services->each[i];

        if (service->frontend->reload) {
            service->frontend->reload(service->shared);
        }
    }
}

void services_rest(struct services *services)
{
    while (services->started > 0) {
        service_end(&services->each[--services->started]);
    }
}

void services_stop(struct services *services)
{
    services_rest(services);
    tls_free(services->tls);
    services->tls = NULL;
}
