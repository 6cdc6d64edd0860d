/* SPDX-License-Identifier: MIT */
#include "server/process/notify.h"

#include "server/process/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct timeval RETRY = {.tv_usec = 100000};

// False if the manager has no room for the message now.
static bool notifier_send(const struct notifier *notifier, const char *text)
{
    ssize_t sent;

    do {
        sent = sendto(notifier->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
                      (const struct sockaddr *)&notifier->manager, notifier->manager_len);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

// Sends the waiting messages, as far as the manager has room for them.
static void notifier_flush(struct notifier *notifier)
{
    size_t sent = 0;

    while (sent < notifier->count && notifier_send(notifier, notifier->waiting[sent])) {
        sent++;
    }
    notifier->count -= sent;
    memmove(notifier->waiting[0], notifier->waiting[sent], notifier->count * NOTIFY_TEXT_MAX);
}

static void notifier_retry(evutil_socket_t fd, short what, void *context)
{
    struct notifier *notifier = context;

    (void)fd;
    (void)what;
    notifier_flush(notifier);
    if (notifier->count > 0) {
        (void)event_add(&notifier->retry, &RETRY);
    }
}

static void notifier_tell(struct notifier *notifier, const char *text)
{
    if (notifier->fd < 0) {
        return;
    }
    if (notifier->count == NOTIFY_WAITING) {
        notifier->count--;
        memmove(notifier->waiting[0], notifier->waiting[1], notifier->count * NOTIFY_TEXT_MAX);
    }
    (void)snprintf(notifier->waiting[notifier->count++], NOTIFY_TEXT_MAX, "%s", text);
    notifier_retry(-1, 0, notifier);
}

// Takes the manager's socket from the environment: a path, or an abstract name that begins with @.
static bool notifier_find_manager(struct notifier *notifier)
{
    const char *name = getenv("NOTIFY_SOCKET");
    size_t len = name ? strlen(name) : 0;

    if (len < 2 || len >= sizeof notifier->manager.sun_path || (*name != '/' && *name != '@')) {
        return false;
    }
    notifier->manager.sun_family = AF_UNIX;
    memcpy(notifier->manager.sun_path, name, len);
    if (*name == '@') {
        notifier->manager.sun_path[0] = '\0';
    }
    notifier->manager_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    return true;
}

// A keep-alive is never queued, so that it displaces no other message: if the manager has no room,
// the next one will do.
static void notifier_beat(evutil_socket_t fd, short what, void *context)
{
    const struct notifier *notifier = context;

    (void)fd;
    (void)what;
    if (notifier->count == 0) {
        (void)notifier_send(notifier, "WATCHDOG=1");
    }
}

// Reads a positive number from the environment.
static bool notifier_read_env(const char *name, int64_t *number)
{
    const char *text = getenv(name);
    char *end;

    if (!text || *text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && *number > 0;
}

// Starts the keep-alives if the manager wants them.
static void notifier_watch(struct notifier *notifier, struct event_base *base)
{
    struct timeval every;
    int64_t micros;
    int64_t pid;

    if (!notifier_read_env("WATCHDOG_USEC", &micros) ||
        (getenv("WATCHDOG_PID") && (!notifier_read_env("WATCHDOG_PID", &pid) || pid != getpid()))) {
        return;
    }
    micros = micros > 1 ? micros / 2 : 1;
    every.tv_sec = (time_t)(micros / 1000000);
    every.tv_usec = (suseconds_t)(micros % 1000000);
    notifier->watched =
        event_assign(&notifier->beat, base, -1, EV_PERSIST, notifier_beat, notifier) == 0 &&
        event_add(&notifier->beat, &every) == 0;
}

void notifier_open(struct notifier *notifier, struct event_base *base)
{
    *notifier = (struct notifier){.fd = -1};
    if (notifier_find_manager(notifier) &&
        evtimer_assign(&notifier->retry, base, notifier_retry, notifier) == 0) {
        notifier->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    }
    if (notifier->fd >= 0) {
        notifier_watch(notifier, base);
    }
}

void notifier_close(struct notifier *notifier)
{
    if (notifier->manager_len > 0 && notifier->fd >= 0) {
        notifier_flush(notifier);
        (void)event_del(&notifier->retry);
        if (notifier->watched) {
            (void)event_del(&notifier->beat);
        }
        (void)close(notifier->fd);
    }
    *notifier = (struct notifier){.fd = -1};
}

void notify_ready(struct notifier *notifier)
{
    notifier_tell(notifier, "READY=1");
}

void notify_status(struct notifier *notifier, const char *text)
{
    char status[NOTIFY_TEXT_MAX];

    (void)snprintf(status, sizeof status, "STATUS=%s", text);
    notifier_tell(notifier, status);
}

void notify_extend(struct notifier *notifier, unsigned seconds)
{
    char text[NOTIFY_TEXT_MAX];

    (void)snprintf(text, sizeof text, "EXTEND_TIMEOUT_USEC=%" PRIu64, (uint64_t)seconds * 1000000);
    notifier_tell(notifier, text);
}

void notify_reloading(struct notifier *notifier)
{
    char text[NOTIFY_TEXT_MAX];

    // By this time, the manager knows the reload request that the message belongs to.
    (void)snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
                   clock_awake() / (NSEC_PER_MSEC / 1000));
    notifier_tell(notifier, text);
}

void notify_stopping(struct notifier *notifier)
{
    // Stopping waits for the journal, and the loop sends no keep-alives meanwhile.
    notifier_tell(notifier, notifier->watched ? "STOPPING=1\nWATCHDOG_USEC=0" : "STOPPING=1");
}
