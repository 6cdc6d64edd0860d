/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/statistics.h"
#include "server/schedule_service.h"
#include "server/io/io.h"
#include "server/process/clock.h"

#include <string.h>

static void server_opening_turned(void *context)
{
    struct server *server = context;

    server_standby_turned(server);
    server_limit_connections(server);
}

bool server_make_store(struct server *server, struct error_text *why)
{
    struct broker_options options = {.secret = facts_secret(), .key = facts_key()};
    struct instant now = clock_now();

    if (!store_make(&server->store, server->settings, &server->options,
                    server->facts.machine.nodename, why)) {
        return false;
    }
    store_record(server->store, &options);
    error_set(why, "out of memory");
    server->broker = broker_new(&options, now);
    server->opening = (struct opening){.store = server->store,
                                       .notifier = &server->notifier,
                                       .broker = server->broker,
                                       .import = {.text = server->settings->journal.import,
                                                  .journal = server->settings->journal.dir,
                                                  .repair = server->options.repair,
                                                  .give_up = server->options.ignore_binlog},
                                       .turned = server_opening_turned,
                                       .context = server};
    return server->broker && opening_init(&server->opening, &options, now);
}

bool server_start_services(struct server *server, struct error_text *why)
{
    // Restored jobs need the policies of their queues at once.
    return queue_policies_apply(&server->policies, server->broker, server->settings, why) &&
           services_start(&server->services, server->settings, server->broker,
                          &server->facts.process, &server->loop.turn, why);
}

// Measures how long jobs wait and run, if operators can ask for it.
static void server_observe(struct server *server)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i]->administers &&
            listeners_address(&server->listeners, frontends[i]->name, 0)) {
            broker_observe(server->broker, true);
        }
    }
}

// The journal may have begun under another host name, as a container has a new name each time: job
// handles that clients have stay valid.
static void server_name_host(const struct server *server, const char *host)
{
    const char *here = server->facts.process.hostname;

    if (*host == '\0' || strcmp(host, here) == 0) {
        return;
    }
    log_info("journal_host", log_string("host", host), log_string("here", here),
             log_string("note", "default handles go on to begin with the name in the journal"));
    services_name_host(&server->services, host);
}

// All jobs are restored.
static bool server_begin(struct server *server, struct error_text *why)
{
    const char *host;

    server_end_standby(server);
    if (server->store &&
        !services_move(&server->services, server->settings, &server->facts.process, why)) {
        return false;
    }
    // The policies of the file may have changed meanwhile.
    if (!queue_policies_load(&server->policies, server->broker, server->settings, why)) {
        return false;
    }
    server->schedules = schedule_service_open(server->broker, server->settings, why);
    if (!server->schedules) {
        return false;
    }
    // From now on sessions hold jobs, which a failure must not change (broker_retire()).
    services_opened(&server->services);
    server->schedule_task = schedule_service_task(server->schedules);
    turn_add_task(&server->loop.turn, &server->schedule_task);
    opening_clear(&server->opening);
    server_observe(server);
    server->stage = SERVER_RUNS;
    server_limit_broker(server);
    server_limit_connections(server);
    host = store_host(server->store);
    server_name_host(server, host);
    return push_service_start(&server->push_service, &server->loop.turn, server->settings,
                              *host ? host : server->facts.process.hostname, why) &&
           server_start_io(server, why);
}

// Until all jobs are restored, only connections of operators are accepted.
enum exit_reason server_open_store(struct server *server, struct error_text *why)
{
    enum opening_end end = opening_run(&server->opening, &server->loop, why);

    server_end_standby(server);
    switch (end) {
    case OPENING_DONE:
        if (!server_begin(server, why)) {
            return EXIT_REASON_OTHER;
        }
        server_took_over(server);
        return EXIT_REASON_NONE;
    case OPENING_FAILED:
        return EXIT_REASON_JOURNAL;
    case OPENING_HANGS:
        server->hangs = true;
        server->stage = SERVER_GIVES_UP;
        return EXIT_REASON_NONE;
    case OPENING_STOPPED:
        server->stage = SERVER_GIVES_UP;
        if (server->standby.failed) {
            *why = server->standby.why;
            return EXIT_REASON_OTHER;
        }
        return EXIT_REASON_NONE;
    }
    UNREACHABLE();
}

bool server_close_store(struct server *server)
{
    bool is_shared = server->store && server->store->shared;
    bool good;

    io_close(server->loop.turn.io);
    server->loop.turn.io = NULL;
    server_end_standby(server);
    if (server->schedules) {
        // Leases in the store continue in the next process, however this one ends.
        broker_retire(server->broker);
    }
    services_rest(&server->services);
    push_service_close(&server->push_service);
    importing_rest(&server->opening.importing);
    if (server->broker) {
        broker_dismantle(server->broker);
    }
    // A shared store that never served has acknowledged nothing.
    good = store_close(server->store) || (is_shared && !server->schedules);
    server->store = NULL;
    opening_clear(&server->opening);
    schedules_free(server->schedules);
    server->schedules = NULL;
    queue_policies_clear(&server->policies);
    broker_free(server->broker);
    server->broker = NULL;
    return good;
}
