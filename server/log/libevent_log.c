/* SPDX-License-Identifier: MIT */
#include "server/log/libevent_log.h"

#include "core/base/log.h"
#include "server/process/exit_reason.h"

#include <event2/event.h>
#include <unistd.h>

static enum log_level level_of(int severity)
{
    switch (severity) {
    case EVENT_LOG_DEBUG:
    case EVENT_LOG_MSG:
        return LOG_LEVEL_DEBUG;
    case EVENT_LOG_WARN:
        return LOG_LEVEL_WARN;
    default:
        return LOG_LEVEL_ERROR;
    }
}

static void route_line(int severity, const char *text)
{
    LOG_AT(level_of(severity), "libevent", log_string("text", text));
}

static void route_fatal(int error)
{
    // It is memory or descriptors that could not be had, not a bug to keep a core file of.
    log_error("libevent_fatal", log_number("error", error));
    log_drain();
    _exit(exit_reason_code(EXIT_REASON_OTHER, EXIT_CODES_OURS));
}

void libevent_log_route(void)
{
    event_set_log_callback(route_line);
    event_set_fatal_callback(route_fatal);
}
