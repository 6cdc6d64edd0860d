/* SPDX-License-Identifier: MIT */
#include "server/services.h"

#include "core/base/log.h"

#include <stdlib.h>

bool services_start(struct services *services, const struct settings *settings,
                    struct broker *broker, const struct process_facts *facts, struct turn *turn,
                    struct reason *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        const struct frontend *frontend = frontends[i];
        struct service *service = &services->each[i];
        enum status status = STATUS_NO_MEMORY;

        service->frontend = frontend;
        service->turn = turn;
        service->transport = &transport_plain;
        service->io = (struct io_service){.transport = &transport_plain, .context = service};
        service->shared = calloc(1, frontend->shared_size ? frontend->shared_size : 1);
        if (service->shared) {
            status =
                frontend->start(service->shared, broker, settings->protocols[i].options, facts);
        }
        if (status != STATUS_OK) {
            free(service->shared);
            reason_set(why, "%s: %s", frontend->name, status_text(status));
            return false;
        }
        services->started++;
    }
    return true;
}

bool services_open_tls(struct services *services, const struct tls_settings *settings,
                       struct reason *why)
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
            (struct tls_service){.tls = services->tls, .alpn = services->each[i].frontend->alpn};
        services->tls_each[i] = services->each[i];
        services->tls_each[i].transport = &transport_tls;
        services->tls_each[i].transport_shared = &services->tls_shared[i];
        services->tls_each[i].io = (struct io_service){.transport = &transport_tls,
                                                       .shared = &services->tls_shared[i],
                                                       .context = &services->tls_each[i]};
    }
    return true;
}

bool services_have_tls(const struct services *services)
{
    return services->tls != NULL;
}

bool services_reload_tls(const struct services *services, const struct tls_settings *settings,
                         struct reason *why)
{
    return !services->tls || tls_reload(services->tls, settings, why);
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

void services_reload(const struct services *services)
{
    for (size_t i = 0; i < services->started; i++) {
        const struct service *service = &services->each[i];

        if (service->frontend->reload) {
            service->frontend->reload(service->shared);
        }
    }
}

void service_log_handshake_failed(const struct service *service, const char *peer, const char *why)
{
    if (*why == '\0') {
        log_debug("no_handshake", log_string("peer", peer),
                  log_string("protocol", service->frontend->name));
    } else if (turn_may_complain(service->turn, COMPLAINT_HANDSHAKE)) {
        log_warn("handshake_failed", log_string("peer", peer),
                 log_string("protocol", service->frontend->name), log_string("why", why));
    }
}

void services_stop(struct services *services)
{
    while (services->started > 0) {
        struct service *service = &services->each[--services->started];

        service->frontend->stop(service->shared);
        free(service->shared);
    }
    tls_free(services->tls);
    services->tls = NULL;
}
