/* SPDX-License-Identifier: MIT */
#include "server/net/edge_socket.h"

#define WATCHED_ALWAYS (EV_READ | EV_CLOSED | EV_ET | EV_PERSIST)

struct event_base *edge_base_new(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config &&
        event_config_require_features(config, EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE) == 0 &&
        event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV) == 0) {
        base = event_base_new_with_config(config);
    }
    if (config) {
        event_config_free(config);
    }
    return base;
}

bool edge_watch(struct edge_socket *edge, struct event *event, struct event_base *base, int fd,
                bool stalled, event_callback_fn callback, void *context)
{
    bool for_room = (stalled && !edge->send_needs_input) || edge->read_needs_room;

    if (edge->watched && edge->watches_room == for_room) {
        return true;
    }
    edge_unwatch(edge, event);
    edge->watches_room = for_room;
    edge->watched =
        event_assign(event, base, fd, (short)(WATCHED_ALWAYS | (for_room ? EV_WRITE : 0)), callback,
                     context) == 0 &&
        event_add(event, NULL) == 0;
    return edge->watched;
}
