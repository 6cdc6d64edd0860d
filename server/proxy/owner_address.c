/* SPDX-License-Identifier: MIT */
#include "server/proxy/owner_address.h"

#include "core/base/slice.h"
#include "server/config/address.h"

#include <string.h>

#define BLANKS " \t\r\n"
// The longest word that is one: names, a host in brackets, a port, and what stands between them.
#define WORD_MAX 320

// Takes what stands in front of `=` for a protocol and its kind.
static bool read_name(struct slice name, struct owner_place *place)
{
    static const struct slice tls = {"+tls", 4};

    place->tls = name.len > tls.len && slice_equal(slice_from(name, name.len - tls.len), tls);
    name.len -= place->tls ? tls.len : 0;
    if (name.len == 0 || name.len >= sizeof place->protocol || memchr(name.ptr, '+', name.len)) {
        return false;
    }
    memcpy(place->protocol, name.ptr, name.len);
    place->protocol[name.len] = '\0';
    return true;
}

// A `listen` key may say more than where somebody is reached: all addresses, any port, a path.
static bool read_where(struct slice where, struct owner_place *place)
{
    char text[WORD_MAX];
    const char *cursor = text;
    struct address address;
    struct error_text why;

    // Of one place, not of a list of them.
    if (where.len == 0 || where.len >= sizeof text || memchr(where.ptr, ',', where.len)) {
        return false;
    }
    memcpy(text, where.ptr, where.len);
    text[where.len] = '\0';
    if (address_next(&cursor, &address, &why) != ADDRESS_FOUND || *cursor != '\0' || address.tls ||
        address.path[0] || address.host[0] == '\0' ||
        strspn(address.port, "0") == strlen(address.port)) {
        return false;
    }
    memcpy(place->host, address.host, sizeof place->host);
    memcpy(place->port, address.port, sizeof place->port);
    return true;
}

static bool read_word(struct slice word, struct owner_place *place)
{
    const char *equals = memchr(word.ptr, '=', word.len);
    size_t len = equals ? (size_t)(equals - word.ptr) : 0;

    return equals && read_name(slice_of(word.ptr, len), place) &&
           read_where(slice_from(word, len + 1), place);
}

static bool is_there(const struct owner_place *places, size_t count,
                     const struct owner_place *place)
{
    for (size_t i = 0; i < count; i++) {
        if (places[i].tls == place->tls && strcmp(places[i].protocol, place->protocol) == 0) {
            return true;
        }
    }
    return false;
}

size_t owner_address_read(const char *text, struct owner_place places[OWNER_PLACES_MAX])
{
    size_t count = 0;

    while (count < OWNER_PLACES_MAX && *(text += strspn(text, BLANKS)) != '\0') {
        size_t len = strcspn(text, BLANKS);

        if (read_word(slice_of(text, len), &places[count]) &&
            !is_there(places, count, &places[count])) {
            count++;
        }
        text += len;
    }
    return count;
}
