/* SPDX-License-Identifier: MIT */
#include "push/multi.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <string.h>

struct watch_socket {
    struct event event;
    struct list_node all; // in multi->watches
    struct multi *multi;
};

static void watch_free(struct watch_socket *watch)
{
    (void)event_del(&watch->event);
    list_remove(&watch->all);
    free(watch);
}

static void tell_over(struct multi *multi)
{
    int left = 0;
    CURLMsg *message;

    while ((message = curl_multi_info_read(multi->handle, &left))) {
        // The message is not valid beyond the next call.
        CURL *transfer = message->easy_handle;
        CURLcode result = message->data.result;

        (void)curl_multi_remove_handle(multi->handle, transfer);
        multi->ops->over(multi->owner, transfer, result);
        multi->ops->changed(multi->owner);
    }
}

static void act(struct multi *multi, curl_socket_t socket, int what)
{
    int running = 0;

    (void)curl_multi_socket_action(multi->handle, socket, what, &running);
    tell_over(multi);
}

// Whatever the sockets would have libcurl do waits until it may send.
static void rest(struct multi *multi)
{
    list_each (node, &multi->watches) {
        (void)event_del(&list_item(node, struct watch_socket, all)->event);
    }
    multi->rests = true;
    multi->timer_at = multi->ops->now(multi->owner);
    multi->ops->changed(multi->owner);
}

static void end_rest(struct multi *multi)
{
    multi->rests = false;
    list_each (node, &multi->watches) {
        (void)event_add(&list_item(node, struct watch_socket, all)->event, NULL);
    }
}

static void socket_ready(evutil_socket_t fd, short what, void *context)
{
    const struct watch_socket *watch = context;
    int select = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);

    if (watch->multi->ops->may_send(watch->multi->owner)) {
        act(watch->multi, fd, select);
    } else {
        rest(watch->multi);
    }
}

static short events_of(int what)
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

static struct watch_socket *watch_new(struct multi *multi, curl_socket_t fd)
{
    struct watch_socket *watch = calloc(1, sizeof *watch);

    if (watch) {
        watch->multi = multi;
        list_append(&multi->watches, &watch->all);
        (void)event_assign(&watch->event, multi->base, fd, 0, socket_ready, watch);
        (void)curl_multi_assign(multi->handle, fd, watch);
    }
    return watch;
}

// libcurl waits for something else at the socket, or for nothing any more.
static int on_socket(CURL *transfer, curl_socket_t fd, int what, void *context, void *socket)
{
    struct multi *multi = context;
    struct watch_socket *watch = socket;

    (void)transfer;
    if (what == CURL_POLL_REMOVE) {
        if (watch) {
            watch_free(watch);
        }
        return 0;
    }
    if (!watch) {
        watch = watch_new(multi, fd);
    }
    if (watch) {
        (void)event_del(&watch->event);
        (void)event_assign(&watch->event, multi->base, fd, events_of(what), socket_ready, watch);
        (void)event_add(&watch->event, NULL);
    }
    return 0;
}

static int on_timer(CURLM *handle, long wait_ms, void *context)
{
    struct multi *multi = context;

    (void)handle;
    multi->timer_at =
        wait_ms < 0 ? NSEC_NEVER
                    : nsec_add(multi->ops->now(multi->owner), (nsec_t)wait_ms * NSEC_PER_MSEC);
    multi->ops->changed(multi->owner);
    return 0;
}

static bool configure(struct multi *multi, unsigned connections)
{
    CURLM *handle = multi->handle;

    return curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, multi) == CURLM_OK &&
           curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
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
    if (!configure(multi, connections)) {
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
    // Should libcurl not have named one of them again.
    while ((first = list_first(&multi->watches))) {
        watch_free(list_item(first, struct watch_socket, all));
    }
    multi->handle = NULL;
}

bool multi_add(struct multi *multi, CURL *transfer)
{
    return curl_multi_add_handle(multi->handle, transfer) == CURLM_OK;
}

void multi_take_off(struct multi *multi, CURL *transfer)
{
    (void)curl_multi_remove_handle(multi->handle, transfer);
}

void multi_run(struct multi *multi)
{
    if (multi->rests) {
        end_rest(multi);
    }
    // libcurl sets another timer where it needs one.
    multi->timer_at = NSEC_NEVER;
    act(multi, CURL_SOCKET_TIMEOUT, 0);
}
