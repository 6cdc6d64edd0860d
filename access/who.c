/* SPDX-License-Identifier: MIT */
#include "access/who.h"

#include "core/base/digits.h"
#include "core/base/glob.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
