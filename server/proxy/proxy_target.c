/* SPDX-License-Identifier: MIT */
#include "server/proxy/proxy_target.h"

#include "core/base/log.h"

#include <string.h>

static const struct timeval REST = {.tv_usec = 500000};
static const struct timeval LOOK_UP_AGAIN = {.tv_sec = 2};

static void host_found(void *context, const struct lookup_result *result)
{
    struct proxy_host *host = context;

    host->lookup = NULL;
    if (result->count > 0) {
        host->found = *result;
        host->complained = false;
        return;
    }
    if (!host->complained) {
        host->complained = true;
        log_warn("proxy_lookup_failed", log_string("host", host->name),
                 log_string("why", result->why));
    }
    (void)event_add(&host->again, &LOOK_UP_AGAIN);
}

// What is known goes on to hold until more is.
static void host_look_up(struct proxy_host *host)
{
    static const struct lookup_result nothing = {.why = "out of memory, descriptors or threads"};

    if (host->lookup || host->is_numeric) {
        return;
    }
    host->lookup = lookup_begin(host->base, host->name, host_found, host);
    if (!host->lookup) {
        host_found(host, &nothing);
    }
}

static void host_again(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    host_look_up(context);
}

static void host_set(struct proxy_host *host, struct event_base *base, const char *name)
{
    host->name = name;
    host->base = base;
    (void)evtimer_assign(&host->again, base, host_again, host);
    host->is_numeric = lookup_numeric(name, &host->found);
    host_look_up(host);
}

// A name may stand for another address now.
static void target_rested(evutil_socket_t fd, short what, void *context)
{
    const struct proxy_target *target = context;

    (void)fd;
    (void)what;
    host_look_up(target->host);
}

void proxy_target_rest(struct proxy_target *target)
{
    (void)event_add(&target->rested, &REST);
}

// The host of a target, which an earlier one may have, too.
static struct proxy_host *host_of(struct proxy_targets *targets, const struct proxy_target *target)
{
    struct proxy_host *host = targets->hosts;

    while (host->name && strcmp(host->name, target->place.host) != 0) {
        host++;
    }
    if (!host->name) {
        host_set(host, targets->base, target->place.host);
    }
    return host;
}

void proxy_targets_set(struct proxy_targets *targets, struct event_base *base, const char *text)
{
    struct owner_place places[OWNER_PLACES_MAX];
    size_t count = owner_address_read(text, places);

    proxy_targets_clear(targets);
    targets->base = base;
    targets->count = count;
    for (size_t i = 0; i < count; i++) {
        struct proxy_target *target = &targets->each[i];

        target->place = places[i];
        (void)evtimer_assign(&target->rested, base, target_rested, target);
        target->host = host_of(targets, target);
    }
}

struct proxy_target *proxy_targets_find(const struct proxy_targets *targets, const char *protocol,
                                        bool tls)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct proxy_target *target = &targets->each[i];

        if (target->place.tls == tls && strcmp(target->place.protocol, protocol) == 0) {
            bool ready =
                target->host->found.count > 0 && !event_pending(&target->rested, EV_TIMEOUT, NULL);

            return ready ? (struct proxy_target *)(uintptr_t)target : NULL;
        }
    }
    return NULL;
}

void proxy_targets_clear(struct proxy_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        (void)event_del(&targets->each[i].rested);
    }
    for (struct proxy_host *host = targets->hosts;
         host < targets->hosts + OWNER_PLACES_MAX && host->name; host++) {
        (void)event_del(&host->again);
        lookup_cancel(host->lookup);
    }
    memset(targets, 0, sizeof *targets);
}
