/* SPDX-License-Identifier: MIT */
#include "server/io/link.h"

#include <stdlib.h>
#include <string.h>

struct link *link_new(const struct transport *transport, int fd, const void *own,
                      const struct io_service *service)
{
    size_t size = sizeof(struct link) + transport->state_size;
    struct link *link = aligned_alloc(alignof(struct link), (size + alignof(struct link) - 1) &
                                                                ~(alignof(struct link) - 1));

    if (!link) {
        return NULL;
    }
    memset(link, 0, size);
    link->fd = fd;
    link->transport = transport;
    link->service = service;
    if (own && transport->state_size > 0) {
        memcpy(link->own, own, transport->state_size);
    }
    list_init(&link->socket.all);
    list_init(&link->socket.waiting);
    list_init(&link->socket.unread);
    list_init(&link->side.due);
    list_init(&link->side.again);
    return link;
}

void link_free(struct link *link)
{
    backlog_drop(&link->socket.backlog, backlog_len(&link->socket.backlog));
    backlog_drop(&link->side.kept, backlog_len(&link->side.kept));
    free(link);
}
