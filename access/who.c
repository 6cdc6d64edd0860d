/* SPDX-License-Identifier: MIT */
#include "access/who.h"

#include "core/base/digits.h"
#include "core/base/glob.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

//
// Networks
//

#define MAPPED_BITS 96

static const unsigned char mapped_prefix[MAPPED_BITS / 8] = {
    [10] = 0xff,
    [11] = 0xff,
};

static bool net_read_address(struct slice text, struct net *net)
{
    char string[INET6_ADDRSTRLEN];

    if (text.len >= sizeof string || memchr(text.ptr, '\0', text.len)) {
        return false;
    }
    memcpy(string, text.ptr, text.len);
    string[text.len] = '\0';
    net->v4 = inet_pton(AF_INET, string, &net->address.s6_addr[sizeof mapped_prefix]) == 1;
    if (net->v4) {
        memcpy(net->address.s6_addr, mapped_prefix, sizeof mapped_prefix);
        return true;
    }
    return inet_pton(AF_INET6, string, &net->address) == 1;
}

// Whether all bits after the prefix are 0.
static bool net_is_first(const struct net *net)
{
    for (unsigned bit = net->bits; bit < 128; bit++) {
        if (net->address.s6_addr[bit / 8] & (0x80u >> bit % 8)) {
            return false;
        }
    }
    return true;
}

static const char *net_read(struct slice text, struct net *net)
{
    const char *slash = text.len > 0 ? memchr(text.ptr, '/', text.len) : NULL;
    size_t len = slash ? (size_t)(slash - text.ptr) : text.len;
    uint64_t bits;

    *net = (struct net){.bits = 0};
    if (len == 0 || !net_read_address(slice_of(text.ptr, len), net)) {
        return "not an IPv4 or IPv6 address";
    }
    bits = net->v4 ? 32 : 128;
    if (slash && (!digits_read(slice_from(text, len + 1), &bits) || bits > (net->v4 ? 32 : 128))) {
        return "the number of bits after the / is not valid for this address";
    }
    net->bits = (unsigned)bits + (net->v4 ? MAPPED_BITS : 0);
    if (!net_is_first(net)) {
        return "the address has bits set after its network";
    }
    net->v4 = net->v4 || (bool)IN6_IS_ADDR_V4MAPPED(&net->address);
    return NULL;
}

static bool net_has(const struct net *net, const struct in6_addr *address)
{
    const unsigned char *ours = net->address.s6_addr;
    const unsigned char *other = address->s6_addr;
    unsigned whole = net->bits / 8;
    unsigned rest = net->bits % 8;

    return net->v4 == (bool)IN6_IS_ADDR_V4MAPPED(address) && memcmp(ours, other, whole) == 0 &&
           (rest == 0 || ((ours[whole] ^ other[whole]) & (0xff00u >> rest & 0xff)) == 0);
}

//
// Peers
//

// Converts an ASCII letter to lower case; returns other bytes unchanged.
static char peer_fold(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// The maximum length of a name that is compared, in bytes.
#define PEER_NAME_MOST 1024

// A name with control characters, for example NUL, may be an attempt to be mistaken for another
// name.
static bool peer_name_may_match(struct slice name)
{
    if (name.len == 0 || name.len > PEER_NAME_MOST) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        unsigned char byte = (unsigned char)name.ptr[i];

        if (byte < ' ' || byte == 0x7f) {
            return false;
        }
    }
    return true;
}

static void peer_add_name(struct peer *peer, struct slice name)
{
    struct peer_name *added = &peer->names[peer->count++];

    added->name = name;
    added->is_host = name.len <= PEER_HOST_MOST;
    for (size_t i = 0; added->is_host && i < name.len; i++) {
        char folded = peer_fold(name.ptr[i]);

        added->folded[i] = folded;
        added->is_host = (folded >= 'a' && folded <= 'z') || (folded >= '0' && folded <= '9') ||
                         folded == '-' || folded == '_' || folded == '.' || folded == '*';
    }
}

void peer_init(struct peer *peer, const struct access_peer *known)
{
    peer->known = known;
    peer->count = 0;
    for (size_t i = 0; i < known->name_count && i < ACCESS_NAMES_MAX; i++) {
        if (peer_name_may_match(known->names[i])) {
            peer_add_name(peer, known->names[i]);
        }
    }
}

//
// Callers of a rule
//

// Room for the name of a user or group, and NUL.
#define SYSTEM_NAME_MAX 256

const char *who_read_cert(struct slice text, struct who *who)
{
    char *folded;

    if (text.len == 0 || !glob_valid(text)) {
        return "cert: requires a valid glob";
    }
    folded = malloc(text.len);
    if (!folded) {
        return "out of memory";
    }
    for (size_t i = 0; i < text.len; i++) {
        folded[i] = peer_fold(text.ptr[i]);
    }
    if (!glob_valid(slice_of(folded, text.len))) {
        free(folded);
        return "the glob has a range from upper case to lower case";
    }
    *who = (struct who){.kind = WHO_CERT, .cert = {.glob = text, .folded = folded}};
    return NULL;
}

// Reads the id of a user or group. The highest number is not an id: system calls use it for none.
static bool who_read_id(struct slice text, uint32_t *id)
{
    uint64_t number;

    if (!digits_read(text, &number) || number >= UINT32_MAX) {
        return false;
    }
    *id = (uint32_t)number;
    return true;
}

static bool who_is_number(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
    }
    return text.len > 0;
}

// Copies the name, with a NUL. False: it is empty or too long.
static bool who_copy_name(struct slice text, char name[SYSTEM_NAME_MAX])
{
    if (text.len == 0 || text.len >= SYSTEM_NAME_MAX) {
        return false;
    }
    memcpy(name, text.ptr, text.len);
    name[text.len] = '\0';
    return true;
}

const char *who_read_user(struct slice text, struct who *who)
{
    char name[SYSTEM_NAME_MAX];
    const struct passwd *entry;
    uint32_t id;

    if (who_is_number(text)) {
        if (!who_read_id(text, &id)) {
            return "not a valid user id";
        }
    } else {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): rules are read by one thread.
        entry = who_copy_name(text, name) ? getpwnam(name) : NULL;
        if (!entry) {
            return "the system does not have this user";
        }
        id = entry->pw_uid;
    }
    *who = (struct who){.kind = WHO_USER, .user = id};
    return NULL;
}

const char *who_read_group(struct slice text, struct who *who)
{
    char name[SYSTEM_NAME_MAX];
    const struct group *entry;
    uint32_t id;

    if (who_is_number(text)) {
        if (!who_read_id(text, &id)) {
            return "not a valid group id";
        }
    } else {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): rules are read by one thread.
        entry = who_copy_name(text, name) ? getgrnam(name) : NULL;
        if (!entry) {
            return "the system does not have this group";
        }
        id = entry->gr_gid;
    }
    *who = (struct who){.kind = WHO_GROUP, .group = id};
    return NULL;
}

const char *who_read_net(struct slice text, struct who *who)
{
    *who = (struct who){.kind = WHO_NET};
    return net_read(text, &who->net);
}

void who_clear(struct who *who)
{
    if (who->kind == WHO_CERT) {
        free(who->cert.folded);
    }
}

static bool who_has_name(const struct who *who, const struct peer *peer)
{
    const struct slice folded = slice_of(who->cert.folded, who->cert.glob.len);

    for (size_t i = 0; i < peer->count; i++) {
        const struct peer_name *name = &peer->names[i];

        if (name->is_host ? glob_matches(folded, slice_of(name->folded, name->name.len))
                          : glob_matches(who->cert.glob, name->name)) {
            return true;
        }
    }
    return false;
}

static bool who_has_group(gid_t group, const struct access_peer *peer)
{
    for (size_t i = 0; i < peer->group_count; i++) {
        if (peer->groups[i] == group) {
            return true;
        }
    }
    return false;
}

bool who_is_peer(const struct who *who, const struct peer *peer)
{
    const struct access_peer *known = peer->known;

    switch (who->kind) {
    case WHO_ANY:
        return true;
    case WHO_TOKEN:
        return false;
    case WHO_CERT:
        return who_has_name(who, peer);
    case WHO_USER:
        return known->has_user && known->user == who->user;
    case WHO_GROUP:
        return known->has_user && who_has_group(who->group, known);
    case WHO_NET:
        return known->has_address && net_has(&who->net, &known->address);
    }
    UNREACHABLE();
}

bool who_is_token(const struct who *who, unsigned token)
{
    return who->kind == WHO_ANY || (who->kind == WHO_TOKEN && who->token == token);
}
