/* SPDX-License-Identifier: MIT */
// pthread_setname_np is a GNU function.
#define _GNU_SOURCE
#include "server/proxy/host_lookup.h"

#include <event2/event_struct.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Shared by the caller and the thread; the one that has finished last frees it.
struct lookup {
    char host[256];
    void (*done)(void *context, const struct lookup_result *result);
    void *context;
    struct event answered;
    int fd; // of the event; closed by the one that frees the lookup, so that the thread never
            // writes to another file
    pthread_mutex_t lock; // of the following
    struct lookup_result result;
    bool is_answered;
    bool is_unwanted;
};

static int lookup_resolve(const char *host, int flags, struct lookup_result *result)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(host, NULL, &hints, &found);

    memset(result, 0, sizeof *result);
    if (error != 0) {
        result->why = gai_strerror(error);
        return error;
    }
    for (const struct addrinfo *ai = found; ai && result->count < LOOKUP_ADDRESSES_MAX;
         ai = ai->ai_next) {
        struct lookup_address *address = &result->addresses[result->count];

        if (ai->ai_family == AF_INET || ai->ai_family == AF_INET6) {
            memcpy(&address->addr, ai->ai_addr, ai->ai_addrlen);
            address->len = ai->ai_addrlen;
            result->count++;
        }
    }
    freeaddrinfo(found);
    result->why = result->count == 0 ? "no address" : NULL;
    return 0;
}

bool lookup_numeric(const char *host, struct lookup_result *result)
{
    return lookup_resolve(host, AI_NUMERICHOST, result) == 0;
}

static void lookup_free(struct lookup *lookup)
{
    if (lookup->fd >= 0) {
        (void)close(lookup->fd);
    }
    (void)pthread_mutex_destroy(&lookup->lock);
    free(lookup);
}

static void *lookup_run(void *context)
{
    const uint64_t one = 1;
    struct lookup *lookup = context;
    struct lookup_result result;
    bool is_unwanted;

    (void)pthread_setname_np(pthread_self(), "tandem-lookup");
    (void)lookup_resolve(lookup->host, 0, &result);
    (void)pthread_mutex_lock(&lookup->lock);
    lookup->result = result;
    lookup->is_answered = true;
    is_unwanted = lookup->is_unwanted;
    if (!is_unwanted) {
        // A counter that is 0 takes a write at once.
        (void)!write(lookup->fd, &one, sizeof one);
    }
    (void)pthread_mutex_unlock(&lookup->lock);
    if (is_unwanted) {
        lookup_free(lookup);
    }
    return NULL;
}

static void lookup_answered(evutil_socket_t fd, short what, void *context)
{
    struct lookup *lookup = context;
    const struct lookup copy = {.done = lookup->done, .context = lookup->context};
    struct lookup_result result;

    (void)fd;
    (void)what;
    (void)pthread_mutex_lock(&lookup->lock);
    result = lookup->result;
    (void)pthread_mutex_unlock(&lookup->lock);
    lookup_cancel(lookup);
    copy.done(copy.context, &result);
}

static bool lookup_start(struct lookup *lookup)
{
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int error;

    // Signals are for the loop.
    (void)sigfillset(&all);
    (void)pthread_attr_init(&detached);
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &detached, lookup_run, lookup);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&detached);
    return error == 0;
}

struct lookup *lookup_begin(struct event_base *base, const char *host,
                            void (*done)(void *context, const struct lookup_result *result),
                            void *context)
{
    struct lookup *lookup = strlen(host) < sizeof lookup->host ? calloc(1, sizeof *lookup) : NULL;

    if (!lookup) {
        return NULL;
    }
    memcpy(lookup->host, host, strlen(host) + 1);
    lookup->done = done;
    lookup->context = context;
    (void)pthread_mutex_init(&lookup->lock, NULL);
    lookup->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (lookup->fd < 0 ||
        event_assign(&lookup->answered, base, lookup->fd, EV_READ, lookup_answered, lookup) != 0 ||
        event_add(&lookup->answered, NULL) != 0) {
        lookup_free(lookup);
        return NULL;
    }
    if (!lookup_start(lookup)) {
        (void)event_del(&lookup->answered);
        lookup_free(lookup);
        return NULL;
    }
    return lookup;
}

void lookup_cancel(struct lookup *lookup)
{
    bool is_answered;

    if (!lookup) {
        return;
    }
    (void)event_del(&lookup->answered);
    (void)pthread_mutex_lock(&lookup->lock);
    is_answered = lookup->is_answered;
    lookup->is_unwanted = true;
    (void)pthread_mutex_unlock(&lookup->lock);
    if (is_answered) {
        lookup_free(lookup);
    }
}
