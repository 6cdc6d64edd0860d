/* SPDX-License-Identifier: MIT */
#include "server/proxy/owner_address.h"

#include "core/base/slice.h"
#include "server/config/listen_address.h"

#include <string.h>

#define BLANKS " \t\r\n"
// The longest valid word: names, a host in brackets, a port, and what stands between them.
#define WORD_MAX 320

// Reads the protocol and `+tls`, in front of `=`.
static bool owner_read_name(struct slice name, struct owner_place *place)
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

// A `listen` key may also hold a list, an unspecified address, any port, or a path.
static bool owner_read_where(struct slice where, struct owner_place *place)
{
    char text[WORD_MAX];
    const char *cursor = text;
    struct listen_address address;
    struct error_text why;

    // A list is not an address.
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

static bool owner_read_word(struct slice word, struct owner_place *place)
{
    const char *equals = memchr(word.ptr, '=', word.len);
    size_t len = equals ? (size_t)(equals - word.ptr) : 0;

    return equals && owner_read_name(slice_of(word.ptr, len), place) &&
           owner_read_where(slice_from(word, len + 1), place);
}

static bool owner_has_place(const struct owner_place *places, size_t count,
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

        if (owner_read_word(slice_of(text, len), &places[count]) &&
            !owner_has_place(places, count, &places[count])) {
            count++;
        }
        text += len;
    }
    return count;
}

void owner_address_proxies(const char *text, struct proxy_list *proxies)
{
    char list[OWNER_TEXT_MAX];
    struct error_text why;

    *proxies = (struct proxy_list){.count = 0};
    while (*(text += strspn(text, BLANKS)) != '\0') {
        size_t len = strcspn(text, BLANKS);
        size_t prefix = strlen(OWNER_PROXIES);

        if (len > prefix && len - prefix < sizeof list &&
            memcmp(text, OWNER_PROXIES, prefix) == 0) {
            memcpy(list, text + prefix, len - prefix);
            list[len - prefix] = '\0';
            if (!proxy_list_read(proxies, list, &why)) {
                proxies->count = 0;
            }
            return;
        }
        text += len;
    }
}
