/* SPDX-License-Identifier: MIT */
#include "ctl/beanstalk/place.h"

#include "core/base/digits.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define SCHEME "beanstalk://"
#define PORT_DEFAULT "11300"

static bool is_host(struct slice host, bool brackets)
{
    static const char others[] = ".-_%";

    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!plain && !memchr(others, c, sizeof others - 1) && !(brackets && c == ':')) {
            return false;
        }
    }
    return host.len > 0;
}

static bool read_parts(struct place *place, struct slice from)
{
    bool brackets = from.len > 0 && from.ptr[0] == '[';
    const char *end = from.len ? memchr(from.ptr, brackets ? ']' : ':', from.len) : NULL;
    size_t len = end ? (size_t)(end - from.ptr) : from.len;
    struct slice host = brackets ? slice_of(from.ptr + 1, len - 1) : slice_of(from.ptr, len);
    struct slice rest = slice_from(from, brackets && end ? len + 1 : len);
    uint64_t port;

    if ((brackets && !end) || !is_host(host, brackets)) {
        return false;
    }
    text_add(&place->host, host);
    if (rest.len == 0) {
        text_put(&place->port, PORT_DEFAULT);
    } else if (rest.ptr[0] == ':' && digits_read(slice_from(rest, 1), &port) && port > 0 &&
               port <= UINT16_MAX) {
        text_format(&place->port, "%u", (unsigned)port);
    } else {
        return false;
    }
    text_format(&place->name, brackets ? "[%s]:%s" : "%s:%s", text_string(&place->host),
                text_string(&place->port));
    return true;
}

// Parses an address without its scheme.
static bool place_read_host(struct place *place, const char *from, struct problem *problem)
{
    size_t len = strlen(from);

    *place = (struct place){0};
    while (len > 0 && from[len - 1] == '/') {
        len--;
    }
    if (read_parts(place, slice_of(from, len))) {
        return true;
    }
    place_free(place);
    (void)problem_set(problem, OUTCOME_USAGE,
                      "\"%s\" is no address: it should be as " SCHEME "127.0.0.1:11300", from);
    return false;
}

bool place_read(struct place *place, const char *from, struct problem *problem)
{
    if (strncasecmp(from, SCHEME, sizeof SCHEME - 1) != 0) {
        *place = (struct place){0};
        (void)problem_set(problem, OUTCOME_USAGE,
                          "\"%s\" is no address of a beanstalk server: it should be as " SCHEME
                          "127.0.0.1:11300",
                          from);
        return false;
    }
    return place_read_host(place, from + sizeof SCHEME - 1, problem);
}

void place_free(struct place *place)
{
    text_free(&place->host);
    text_free(&place->port);
    text_free(&place->name);
}
