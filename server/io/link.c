/* SPDX-License-Identifier: MIT */
#include "server/io/link.h"

#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

// Whole lines of the cache, as its alignment is.
static size_t link_size(const struct transport *transport)
{
    size_t size = sizeof(struct link) + transport->state_size;

    return (size + alignof(struct link) - 1) & ~(alignof(struct link) - 1);
}

struct link *link_new(const struct io_service *service, int fd, const void *own)
{
    const struct transport *transport = service->transport;
    size_t size = link_size(transport);
    struct link *link = aligned_alloc(alignof(struct link), size);

    if (!link) {
        return NULL;
    }
    memory_count_of(MEMORY_CONNECTIONS, size);
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
    memory_uncount_of(MEMORY_CONNECTIONS, link_size(link->transport));
    free(link);
}
