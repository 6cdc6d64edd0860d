/* SPDX-License-Identifier: MIT */
#include "server/net/crowd.h"

#include "core/base/hash.h"
#include "server/transport/origin.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { DESCRIPTORS_FIRST = 64 };

// An address that has connections.
struct crowd_address {
    struct hash_node node;
    uint64_t hash;
    uint64_t key;
    uint64_t count;
};

struct crowd {
    _Atomic(uint64_t) most;    // 0: no limit
    _Atomic(uint64_t) counted; // sockets
    pthread_mutex_t lock;      // of all that follows
    struct siphash_key key;
    struct hash addresses;
    struct crowd_address **by_fd; // of sockets that are counted
    size_t room;                  // descriptors that there is a place for
    struct seats seats;
};

static uint64_t hash_of(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct crowd_address, node)->hash;
}

struct crowd *crowd_new(const struct siphash_key *key)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);

    if (crowd && (!seats_init(&crowd->seats) || pthread_mutex_init(&crowd->lock, NULL) != 0)) {
        seats_clear(&crowd->seats);
        free(crowd);
        crowd = NULL;
    }
    if (crowd) {
        crowd->key = *key;
        hash_init(&crowd->addresses, hash_of);
    }
    return crowd;
}

void crowd_limit(struct crowd *crowd, uint64_t most)
{
    atomic_store(&crowd->most, most);
}

// An IPv4 address stands in a /64 that no host has.
static uint64_t key_of_address(const struct in6_addr *address)
{
    const unsigned char *bytes = address->s6_addr;
    uint64_t key = 0;

    if (IN6_IS_ADDR_V4MAPPED(address)) {
        bytes += 8;
    }
    for (unsigned i = 0; i < 8; i++) {
        key = key << 8 | bytes[i];
    }
    return key;
}

// False where the peer is not to be counted: it has no such address, or has gone.
static bool key_of(int fd, uint64_t *key)
{
    struct origin origin = origin_of(fd);

    if (origin.has_address) {
        *key = key_of_address(&origin.address);
    }
    return origin.has_address;
}

static bool make_place(struct crowd *crowd, int fd)
{
    size_t room = crowd->room ? crowd->room : DESCRIPTORS_FIRST;
    struct crowd_address **by_fd;

    while (room <= (size_t)fd) {
        room *= 2;
    }
    if (room == crowd->room) {
        return true;
    }
    by_fd = realloc(crowd->by_fd, room * sizeof(struct crowd_address *));
    if (!by_fd) {
        return false;
    }
    for (size_t i = crowd->room; i < room; i++) {
        by_fd[i] = NULL;
    }
    crowd->by_fd = by_fd;
    crowd->room = room;
    return true;
}

// The address of that key, perhaps a new one; NULL without memory.
static struct crowd_address *address_of(struct crowd *crowd, uint64_t key)
{
    uint64_t hash = siphash(&crowd->key, (const char *)&key, sizeof key);
    struct crowd_address *address;

    for (struct hash_node *node = hash_first(&crowd->addresses, hash); node; node = node->next) {
        address = container_of(node, struct crowd_address, node);
        if (address->key == key) {
            return address;
        }
    }
    address = hash_make_room(&crowd->addresses) ? malloc(sizeof *address) : NULL;
    if (address) {
        *address = (struct crowd_address){.hash = hash, .key = key};
        hash_insert(&crowd->addresses, &address->node);
    }
    return address;
}

static void forget_empty(struct crowd *crowd, struct crowd_address *address)
{
    if (address->count == 0) {
        hash_remove(&crowd->addresses, &address->node);
        free(address);
    }
}

static bool count(struct crowd *crowd, int fd, uint64_t key, uint64_t most)
{
    struct crowd_address *address = make_place(crowd, fd) ? address_of(crowd, key) : NULL;
    bool fits = address && address->count < most;

    if (fits) {
        ENSURE(!crowd->by_fd[fd]);
        crowd->by_fd[fd] = address;
        address->count++;
        atomic_fetch_add(&crowd->counted, 1);
    }
    return fits;
}

static bool enter(struct crowd *crowd, int fd)
{
    uint64_t most = atomic_load_explicit(&crowd->most, memory_order_relaxed);
    uint64_t key;
    bool fits;

    if (most == 0 || !key_of(fd, &key)) {
        return true;
    }
    (void)pthread_mutex_lock(&crowd->lock);
    fits = count(crowd, fd, key, most);
    (void)pthread_mutex_unlock(&crowd->lock);
    return fits;
}

bool crowd_enter(struct crowd *crowd, int fd, unsigned kind)
{
    bool fits = !crowd || enter(crowd, fd);

    if (crowd && fits) {
        seats_take(&crowd->seats, fd, kind);
    }
    return fits;
}

struct seats *crowd_seats(struct crowd *crowd)
{
    return &crowd->seats;
}

// Who closes a socket that is counted knows that by having got it from who accepted it.
void crowd_leave(struct crowd *crowd, int fd)
{
    struct crowd_address *address;

    if (!crowd) {
        return;
    }
    seats_leave(&crowd->seats, fd);
    if (atomic_load_explicit(&crowd->counted, memory_order_relaxed) == 0) {
        return;
    }
    (void)pthread_mutex_lock(&crowd->lock);
    address = (size_t)fd < crowd->room ? crowd->by_fd[fd] : NULL;
    if (address) {
        crowd->by_fd[fd] = NULL;
        address->count--;
        forget_empty(crowd, address);
        atomic_fetch_sub(&crowd->counted, 1);
    }
    (void)pthread_mutex_unlock(&crowd->lock);
}

void crowd_free(struct crowd *crowd)
{
    if (!crowd) {
        return;
    }
    for (size_t fd = 0; fd < crowd->room; fd++) {
        crowd_leave(crowd, (int)fd);
    }
    hash_clear(&crowd->addresses);
    (void)pthread_mutex_destroy(&crowd->lock);
    free(crowd->by_fd);
    seats_clear(&crowd->seats);
    free(crowd);
}
