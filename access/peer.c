/* SPDX-License-Identifier: MIT */
#include "access/peer.h"

char peer_fold(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// A name with control characters, for example NUL, may be an attempt to be mistaken for another
// name.
static bool may_fit(struct slice name)
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

static bool is_host_byte(char folded)
{
    return (folded >= 'a' && folded <= 'z') || (folded >= '0' && folded <= '9') || folded == '-' ||
           folded == '_' || folded == '.' || folded == '*';
}

static void add_name(struct peer *peer, struct slice name)
{
    struct peer_name *added = &peer->names[peer->count++];

    added->name = name;
    added->is_host = name.len <= PEER_HOST_MOST;
    for (size_t i = 0; added->is_host && i < name.len; i++) {
        added->folded[i] = peer_fold(name.ptr[i]);
        added->is_host = is_host_byte(added->folded[i]);
    }
}

void peer_init(struct peer *peer, const struct access_peer *known)
{
    peer->known = known;
    peer->count = 0;
    for (size_t i = 0; i < known->name_count && i < ACCESS_NAMES_MAX; i++) {
        if (may_fit(known->names[i])) {
            add_name(peer, known->names[i]);
        }
    }
}
