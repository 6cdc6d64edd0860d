/* SPDX-License-Identifier: MIT */
#include "push/multi.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <string.h>

struct multi_watch {
    struct event event;
    struct list_node all; // in multi->watches
    struct multi *multi;
};

static void multi_watch_free(struct multi_watch *watch)
{
    (void)event_del(&watch->event);
    list_remove(&watch->all);
    free(watch);
}

// Lets libcurl act on an event of the socket, and tells the owner of transfers that are over.
static void multi_act(struct multi *multi, curl_socket_t socket, int what)
{
    int running = 0;
    int left = 0;
    CURLMsg *message;

    (void)curl_multi_socket_action(multi->handle, socket, what, &running);
    while ((message = curl_multi_info_read(multi->handle, &left))) {
        // The message is only valid until the next call.
        CURL *transfer = message->easy_handle;
        CURLcode result = message->data.result;

        (void)curl_multi_remove_handle(multi->handle, transfer);
        multi->ops->over(multi->owner, transfer, result);
        multi->ops->changed(multi->owner);
    }
}

// Requests must not be sent now: stops watching the sockets until multi_run().
static void multi_rest(struct multi *multi)
{
    list_each (node, &multi->watches) {
        (void)event_del(&list_item(node, struct multi_watch, all)->event);
    }
    multi->rests = true;
    multi->timer_at = multi->ops->now(multi->owner);
    multi->ops->changed(multi->owner);
}

static void multi_socket_ready(evutil_socket_t fd, short what, void *context)
{
    const struct multi_watch *watch = context;
    int select = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);

    if (watch->multi->ops->may_send(watch->multi->owner)) {
        multi_act(watch->multi, fd, select);
    } else {
        multi_rest(watch->multi);
    }
}

static short multi_events(int what)
{
    switch (what) {
    case CURL_POLL_IN:
        return EV_READ | EV_PERSIST;
    case CURL_POLL_OUT:
        return EV_WRITE | EV_PERSIST;
    case CURL_POLL_INOUT:
        return EV_READ | EV_WRITE | EV_PERSIST;
    default:
        return 0;
    }
}

static struct multi_watch *multi_watch_new(struct multi *multi, curl_socket_t fd)
{
    struct multi_watch *watch = calloc(1, sizeof *watch);

    if (watch) {
        watch->multi = multi;
        list_append(&multi->watches, &watch->all);
        (void)event_assign(&watch->event, multi->base, fd, 0, multi_socket_ready, watch);
        (void)curl_multi_assign(multi->handle, fd, watch);
    }
    return watch;
}

// libcurl wants other events of the socket, or none.
static int multi_on_socket(CURL *transfer, curl_socket_t fd, int what, void *context, void *socket)
{
    struct multi *multi = context;
    struct multi_watch *watch = socket;

    (void)transfer;
    if (what == CURL_POLL_REMOVE) {
        if (watch) {
            multi_watch_free(watch);
        }
        return 0;
    }
    if (!watch) {
        watch = multi_watch_new(multi, fd);
    }
    if (watch) {
        (void)event_del(&watch->event);
        (void)event_assign(&watch->event, multi->base, fd, multi_events(what), multi_socket_ready,
                           watch);
        (void)event_add(&watch->event, NULL);
    }
    return 0;
}

static int multi_on_timer(CURLM *handle, long wait_ms, void *context)
{
    struct multi *multi = context;

    (void)handle;
    multi->timer_at =
        wait_ms < 0 ? NSEC_NEVER
                    : nsec_add(multi->ops->now(multi->owner), (nsec_t)wait_ms * NSEC_PER_MSEC);
    multi->ops->changed(multi->owner);
    return 0;
}

static bool multi_configure(struct multi *multi, unsigned connections)
{
    CURLM *handle = multi->handle;

    return curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, multi_on_socket) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, multi) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, multi_on_timer) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_TIMERDATA, multi) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_PIPELINING, CURLPIPE_NOTHING) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_MAXCONNECTS, (long)connections) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)connections) == CURLM_OK;
}

bool multi_open(struct multi *multi, struct event_base *base, unsigned connections,
                const struct multi_ops *ops, void *owner)
{
    *multi = (struct multi){.base = base, .ops = ops, .owner = owner, .timer_at = NSEC_NEVER};
    list_init(&multi->watches);
    multi->handle = curl_multi_init();
    if (!multi->handle) {
        return false;
    }
    if (!multi_configure(multi, connections)) {
        multi_close(multi);
        return false;
    }
    return true;
}

void multi_close(struct multi *multi)
{
    struct list_node *first;

    if (!multi->handle) {
        return;
    }
    (void)curl_multi_cleanup(multi->handle);
    // Sockets that libcurl has not removed.
    while ((first = list_first(&multi->watches))) {
        multi_watch_free(list_item(first, struct multi_watch, all));
    }
    multi->handle = NULL;
}

bool multi_add(struct multi *multi, CURL *transfer)
{
    return curl_multi_add_handle(multi->handle, transfer) == CURLM_OK;
}

void multi_remove(struct multi *multi, CURL *transfer)
{
    (void)curl_multi_remove_handle(multi->handle, transfer);
}

void multi_run(struct multi *multi)
{
    if (multi->rests) {
        multi->rests = false;
        list_each (node, &multi->watches) {
            (void)event_add(&list_item(node, struct multi_watch, all)->event, NULL);
        }
    }
    // libcurl sets a new timer if it needs one.
    multi->timer_at = NSEC_NEVER;
    multi_act(multi, CURL_SOCKET_TIMEOUT, 0);
}
