/* SPDX-License-Identifier: MIT */
#include "server/net/admission.h"

#include "core/base/hash.h"
#include "core/base/memory.h"
#include "server/transport/origin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

// Descriptors above this have no kind.
#define DESCRIPTORS_MOST ((size_t)1 << 22)

bool slots_init(struct slots *slots)
{
    struct rlimit files;

    // The soft limit may still be raised to the hard limit.
    slots->descriptors = DESCRIPTORS_MOST;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < DESCRIPTORS_MOST) {
        slots->descriptors = (size_t)files.rlim_max;
    }
    // The kernel allocates only pages that are written.
    slots->kind_of = calloc(slots->descriptors, sizeof *slots->kind_of);
    return slots->kind_of != NULL;
}

void slots_clear(struct slots *slots)
{
    free(slots->kind_of);
    slots->kind_of = NULL;
}

void slots_take(struct slots *slots, int fd, unsigned kind)
{
    if ((size_t)fd < slots->descriptors) {
        atomic_store_explicit(&slots->kind_of[fd], (uint8_t)(kind + 1), memory_order_relaxed);
        atomic_fetch_add_explicit(&slots->taken[kind], 1, memory_order_relaxed);
    }
}

void slots_release(struct slots *slots, int fd)
{
    unsigned kind = 0;

    if ((size_t)fd < slots->descriptors) {
        kind = atomic_exchange_explicit(&slots->kind_of[fd], 0, memory_order_relaxed);
    }
    if (kind > 0) {
        atomic_fetch_sub_explicit(&slots->taken[kind - 1], 1, memory_order_relaxed);
    }
}

bool slots_administer(const struct slots *slots, unsigned kind)
{
    return frontends[kind]->administers &&
           atomic_load_explicit(&slots->taken[kind], memory_order_relaxed) <= SLOTS_RESERVED;
}

static uint64_t slots_reserved(unsigned kind, uint64_t most)
{
    uint64_t reserved = most / 64 < SLOTS_RESERVED ? most / 64 : SLOTS_RESERVED;
    uint64_t least = most / 4 < SLOTS_OPERATORS ? most / 4 : SLOTS_OPERATORS;
    bool administers = kind < FRONTENDS && frontends[kind]->administers;

    return administers && reserved < least ? least : reserved;
}

unsigned slots_full(const struct slots *slots, uint64_t open, uint64_t most)
{
    uint64_t left = most > open ? most - open : 0;
    uint64_t unused[SLOT_KINDS]; // slots that only this kind may take
    uint64_t unused_sum = 0;
    unsigned full = 0;

    if (left > SLOT_KINDS * SLOTS_RESERVED) {
        return 0;
    }
    for (unsigned kind = 0; kind < SLOT_KINDS; kind++) {
        uint64_t taken = atomic_load_explicit(&slots->taken[kind], memory_order_relaxed);
        uint64_t reserved = slots_reserved(kind, most);

        unused[kind] = slots->listened & 1u << kind && taken < reserved ? reserved - taken : 0;
        unused_sum += unused[kind];
    }
    for (unsigned kind = 0; kind < SLOT_KINDS; kind++) {
        if (left == 0 || (unused[kind] == 0 && left <= unused_sum)) {
            full |= 1u << kind;
        }
    }
    return full;
}

enum { DESCRIPTORS_FIRST = 64 };

// An address with connections.
struct peer_address {
    struct hash_node node;
    uint64_t hash;
    uint64_t key;
    uint64_t count;
};

struct peer_limits {
    _Atomic(uint64_t) most;    // 0: no limit
    _Atomic(uint64_t) counted; // sockets
    pthread_mutex_t lock;      // of the following
    struct siphash_key key;
    struct hash addresses;
    struct peer_address **by_fd; // addresses of counted sockets
    size_t room;                 // of by_fd
    struct slots slots;
};

static uint64_t peer_address_hash(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct peer_address, node)->hash;
}

struct peer_limits *peer_limits_new(const struct siphash_key *key)
{
    struct peer_limits *limits = calloc(1, sizeof *limits);

    if (limits && (!slots_init(&limits->slots) || pthread_mutex_init(&limits->lock, NULL) != 0)) {
        slots_clear(&limits->slots);
        free(limits);
        limits = NULL;
    }
    if (limits) {
        limits->key = *key;
        hash_init(&limits->addresses, peer_address_hash);
    }
    return limits;
}

void peer_limits_set(struct peer_limits *limits, uint64_t most)
{
    atomic_store(&limits->most, most);
}

// The key of an IPv4 address is that of a /64 network that no host has.
static uint64_t peer_address_key(const struct in6_addr *address)
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

static bool peer_limits_make_room(struct peer_limits *limits, int fd)
{
    size_t room = limits->room ? limits->room : DESCRIPTORS_FIRST;
    struct peer_address **by_fd;

    while (room <= (size_t)fd) {
        room *= 2;
    }
    if (room == limits->room) {
        return true;
    }
    by_fd = realloc(limits->by_fd, room * sizeof(struct peer_address *));
    if (!by_fd) {
        return false;
    }
    for (size_t i = limits->room; i < room; i++) {
        by_fd[i] = NULL;
    }
    limits->by_fd = by_fd;
    limits->room = room;
    return true;
}

// The address of that key, possibly new; NULL without memory.
static struct peer_address *peer_limits_address(struct peer_limits *limits, uint64_t key)
{
    uint64_t hash = siphash(&limits->key, (const char *)&key, sizeof key);
    struct peer_address *address;

    for (struct hash_node *node = hash_first(&limits->addresses, hash); node; node = node->next) {
        address = container_of(node, struct peer_address, node);
        if (address->key == key) {
            return address;
        }
    }
    address = hash_make_room(&limits->addresses) ? malloc(sizeof *address) : NULL;
    if (address) {
        *address = (struct peer_address){.hash = hash, .key = key};
        hash_insert(&limits->addresses, &address->node);
    }
    return address;
}

bool peer_limits_enter_client(struct peer_limits *limits, int fd, const struct in6_addr *address)
{
    uint64_t most = limits ? atomic_load_explicit(&limits->most, memory_order_relaxed) : 0;
    struct peer_address *counted = NULL;
    bool fits;

    if (most == 0) {
        return true;
    }
    (void)pthread_mutex_lock(&limits->lock);
    if (peer_limits_make_room(limits, fd)) {
        counted = peer_limits_address(limits, peer_address_key(address));
    }
    fits = counted && counted->count < most;
    if (fits) {
        ENSURE(!limits->by_fd[fd]);
        limits->by_fd[fd] = counted;
        counted->count++;
        atomic_fetch_add(&limits->counted, 1);
    }
    (void)pthread_mutex_unlock(&limits->lock);
    return fits;
}

// The kernel is not asked for the address if there is no limit.
static bool peer_limits_enter_peer(struct peer_limits *limits, int fd)
{
    struct origin origin;

    if (atomic_load_explicit(&limits->most, memory_order_relaxed) == 0) {
        return true;
    }
    origin = origin_of(fd);
    // It has none at a unix socket, or if the peer has closed.
    return !origin.has_address || peer_limits_enter_client(limits, fd, &origin.address);
}

void peer_limits_enter_proxy(struct peer_limits *limits, int fd, unsigned kind)
{
    if (limits) {
        slots_take(&limits->slots, fd, kind);
    }
}

bool peer_limits_enter(struct peer_limits *limits, int fd, unsigned kind)
{
    bool fits = !limits || peer_limits_enter_peer(limits, fd);

    if (fits) {
        peer_limits_enter_proxy(limits, fd, kind);
    }
    return fits;
}

struct slots *peer_limits_slots(struct peer_limits *limits)
{
    return &limits->slots;
}

// The thread that closes a counted socket has received it from the thread that counted it.
void peer_limits_leave(struct peer_limits *limits, int fd)
{
    struct peer_address *address;

    if (!limits) {
        return;
    }
    slots_release(&limits->slots, fd);
    if (atomic_load_explicit(&limits->counted, memory_order_relaxed) == 0) {
        return;
    }
    (void)pthread_mutex_lock(&limits->lock);
    address = (size_t)fd < limits->room ? limits->by_fd[fd] : NULL;
    if (address) {
        limits->by_fd[fd] = NULL;
        address->count--;
        if (address->count == 0) {
            hash_remove(&limits->addresses, &address->node);
            free(address);
        }
        atomic_fetch_sub(&limits->counted, 1);
    }
    (void)pthread_mutex_unlock(&limits->lock);
}

void peer_limits_free(struct peer_limits *limits)
{
    if (!limits) {
        return;
    }
    for (size_t fd = 0; fd < limits->room; fd++) {
        peer_limits_leave(limits, (int)fd);
    }
    hash_clear(&limits->addresses);
    (void)pthread_mutex_destroy(&limits->lock);
    free(limits->by_fd);
    slots_clear(&limits->slots);
    free(limits);
}

bool admission_has_memory(uint64_t open, const char *peer, struct peer_limits *limits,
                          unsigned protocol)
{
    bool is_local = strncmp(peer, "127.", 4) == 0 || strncmp(peer, "[::1]", 5) == 0 ||
                    strncmp(peer, "unix", 4) == 0;

    return !memory_is_crowded() || open < ADMISSION_ALWAYS || (!memory_is_over() && is_local) ||
           (limits && slots_administer(peer_limits_slots(limits), protocol));
}
