/* SPDX-License-Identifier: MIT */
#include "server/server.h"

#include "core/log.h"
#include "server/clock.h"

#include <stdlib.h>
#include <string.h>

// How long staged replies may take to leave when the server stops.
static const struct timeval STOP_PATIENCE = {.tv_sec = 2};

static void server_accept(void *context, int fd, const char *peer)
{
    const struct service *service = context;

    loop_tick(service->loop);
    conn_open(service, fd, peer);
}

static void patience_over(evutil_socket_t fd, short what, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)what;
    server->stage = SERVER_GIVES_UP;
}

static void server_stop(struct server *server)
{
    if (server->stage != SERVER_RUNS) {
        server->stage = SERVER_GIVES_UP;
        return;
    }
    log_info("stopping", log_number("pid", server->facts.process.pid));
    server->stage = SERVER_STOPS;
    listeners_close(&server->listeners);
    loop_finish_all(&server->loop);
    if (event_add(&server->patience, &STOP_PATIENCE) != 0) {
        server->stage = SERVER_GIVES_UP;
    }
}

// A file or a value that is wrong changes nothing.
static void server_reload(struct server *server)
{
    struct complaint why;
    struct settings *fresh = settings_load(server->source, &why);
    const struct server_settings *now = &server->settings->server;

    if (!fresh) {
        log_error("reload_failed", log_string("why", why.text));
        return;
    }
    config_adopt(&server->settings->config, &fresh->config);
    settings_free(fresh);
    if (!log_output_open(server->log, now->log_file, (enum log_format)now->log_format,
                         (enum log_level)now->log_level, &why)) {
        log_error("log_not_opened", log_string("why", why.text));
    }
    log_info("reloaded", log_string("file", server->source->path ? server->source->path : ""));
}

static void server_signal(void *context, enum signal_wish wish)
{
    struct server *server = context;

    switch (wish) {
    case SIGNAL_STOP:
        server_stop(server);
        return;
    case SIGNAL_DRAIN:
        log_info("draining", log_number("pid", server->facts.process.pid));
        broker_drain(server->broker);
        return;
    case SIGNAL_RELOAD:
        server_reload(server);
        return;
    }
    UNREACHABLE();
}

static bool server_start_frontends(struct server *server, struct complaint *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        const struct frontend *frontend = frontends[i];
        struct service *service = &server->services[i];
        enum status status = STATUS_NO_MEMORY;

        service->frontend = frontend;
        service->loop = &server->loop;
        service->shared = calloc(1, frontend->shared_size ? frontend->shared_size : 1);
        if (service->shared) {
            status =
                frontend->start(service->shared, server->broker,
                                server->settings->protocols[i].options, &server->facts.process);
        }
        if (status != STATUS_OK) {
            free(service->shared);
            complaint_set(why, "%s: %s", frontend->name, status_text(status));
            return false;
        }
        server->started++;
    }
    return true;
}

static bool server_listen(struct server *server, struct complaint *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (!listeners_open(&server->listeners, server->settings->protocols[i].listen,
                            frontends[i]->name, server_accept, &server->services[i], why)) {
            return false;
        }
    }
    if (listeners_empty(&server->listeners)) {
        complaint_set(why, "no address to listen at: every `listen` key is empty");
        return false;
    }
    return true;
}

bool server_open(struct server *server, struct settings *settings,
                 const struct settings_source *source, struct log_output *log,
                 struct complaint *why)
{
    const struct broker_options broker_options = {0};
    struct instant now = clock_now();

    memset(server, 0, sizeof *server);
    server->settings = settings;
    server->source = source;
    server->log = log;
    facts_gather(&server->facts, now);
    complaint_set(why, "out of memory or descriptors");
    server->broker = broker_new(&broker_options, now);
    if (!server->broker || !loop_init(&server->loop, server->broker, clock_now)) {
        return false;
    }
    listeners_init(&server->listeners, server->loop.base);
    (void)evtimer_assign(&server->patience, server->loop.base, patience_over, server);
    return signals_open(&server->signals, server->loop.base, server_signal, server) &&
           server_start_frontends(server, why) && server_listen(server, why);
}

void server_run(struct server *server)
{
    while (server->stage == SERVER_RUNS ||
           (server->stage == SERVER_STOPS && !list_empty(&server->loop.all))) {
        loop_turn(&server->loop, true);
    }
}

void server_close(struct server *server)
{
    if (server->loop.base) {
        listeners_close(&server->listeners);
        signals_close(&server->signals);
        (void)event_del(&server->patience);
    }
    loop_close(&server->loop);
    while (server->started > 0) {
        struct service *service = &server->services[--server->started];

        service->frontend->stop(service->shared);
        free(service->shared);
    }
    broker_free(server->broker);
    memset(server, 0, sizeof *server);
}
