/* SPDX-License-Identifier: MIT */
// struct ucred is one of GNU.
#define _GNU_SOURCE
#include "server/transport/origin.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// The most groups of a user (NGROUPS_MAX of Linux).
enum { GROUPS_MOST = 65536, GROUPS_FIRST = 32 };

static void origin_take_user(int fd, struct origin *origin)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    origin->has_user =
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && len == sizeof peer;
    if (origin->has_user) {
        origin->user = peer.uid;
        origin->group = peer.gid;
    }
}

struct client_address client_address_of(const struct sockaddr_storage *addr)
{
    const struct sockaddr_in *v4 = (const void *)addr;
    const struct sockaddr_in6 *v6 = (const void *)addr;
    struct client_address end = {.known = false};

    if (addr->ss_family == AF_INET) {
        client_address_set_v4(&end, &v4->sin_addr);
        end.port = ntohs(v4->sin_port);
    } else if (addr->ss_family == AF_INET6) {
        end.known = true;
        end.address = v6->sin6_addr;
        end.port = ntohs(v6->sin6_port);
    }
    return end;
}

struct origin origin_of(int fd)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;
    struct origin origin = {.has_address = false};
    struct client_address peer;

    if (getpeername(fd, (struct sockaddr *)&addr, &len) != 0) {
        return origin;
    }
    if (addr.ss_family == AF_UNIX) {
        origin_take_user(fd, &origin);
        return origin;
    }
    peer = client_address_of(&addr);
    return origin_of_client(&peer);
}

struct origin origin_of_client(const struct client_address *client)
{
    return (struct origin){.has_address = client->known, .address = client->address};
}

bool origin_is_local(const struct origin *origin)
{
    const struct in6_addr *address = &origin->address;

    return origin->has_user || (origin->has_address &&
                                (IN6_IS_ADDR_LOOPBACK(address) ||
                                 (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127)));
}

// If the room is too small, the kernel returns the number of groups. An old kernel returns none.
gid_t *origin_groups(int fd, const struct origin *origin, size_t *count)
{
    size_t room = GROUPS_FIRST;
    gid_t *groups = malloc((1 + room) * sizeof *groups);
    socklen_t len = (socklen_t)(room * sizeof *groups);

    *count = 0;
    while (groups && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &len) != 0) {
        bool more = errno == ERANGE && len / sizeof *groups > room && room < GROUPS_MOST;

        if (!more) {
            len = 0;
            break;
        }
        free(groups);
        room = len / sizeof *groups;
        groups = malloc((1 + room) * sizeof *groups);
    }
    if (groups) {
        groups[0] = origin->group;
        *count = 1 + len / sizeof *groups;
    }
    return groups;
}

void origin_text(const struct origin *origin, char text[ORIGIN_TEXT_MAX])
{
    const struct in6_addr *address = &origin->address;
    bool mapped = IN6_IS_ADDR_V4MAPPED(address);

    if (origin->has_user) {
        (void)snprintf(text, ORIGIN_TEXT_MAX, "user:%lu", (unsigned long)origin->user);
    } else if (!origin->has_address ||
               !inet_ntop(mapped ? AF_INET : AF_INET6,
                          mapped ? (const void *)(address->s6_addr + 12) : address, text,
                          ORIGIN_TEXT_MAX)) {
        (void)snprintf(text, ORIGIN_TEXT_MAX, "-");
    }
}
