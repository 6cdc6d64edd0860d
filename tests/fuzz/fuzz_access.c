/* SPDX-License-Identifier: MIT */

// A file of rules, or, where the first byte is odd, of tokens of HTTP. Where it is refused, a
// reason says why; where it is good, it is so again, with the same rights for everybody, and what
// is read again of the same text grants the same.

#include "access/access.h"
#include "core/base/macros.h"
#include "tests/support/rights.h"

#include <stdint.h>
#include <string.h>

static const gid_t groups[] = {0, 7};
static const struct slice names[] = {{"worker-7.Example", 16}, {"ops@example.org", 15}};

static struct access *make(bool tokens, struct slice text)
{
    struct error_text why = {""};
    struct access *access =
        tokens ? access_parse_tokens(text, "file", &why) : access_parse(text, "file", &why);

    ENSURE(access || strncmp(why.text, "file:", 5) == 0);
    return access;
}

static unsigned rights_by(struct grants *grants)
{
    unsigned rights;

    ENSURE(grants);
    rights = rights_on(grants, SLICE("mail")) | grants_somewhere(grants) << 8 |
             grants_everywhere(grants) << 16;
    ENSURE((rights_on(grants, SLICE("mail")) & ~grants_somewhere(grants)) == 0);
    ENSURE((grants_everywhere(grants) & ~rights_on(grants, SLICE("mail"))) == 0);
    grants_unref(grants);
    return rights;
}

// All that one caller may do, in a number.
static unsigned rights_of(struct access *access, const struct access_peer *peer)
{
    struct slice role = access_role_of_peer(access, peer);

    ENSURE(role.len <= 64);
    return rights_by(access_of_peer(access, peer));
}

static void compare(struct access *access, struct access *again)
{
    struct access_peer peer = {.groups = groups, .group_count = 2, .names = names};

    for (unsigned kind = 0; kind < 4; kind++) {
        peer.has_address = kind == 1;
        peer.address.s6_addr[15] = kind == 1;
        peer.has_user = kind == 2;
        peer.name_count = kind == 3 ? 2 : 0;
        ENSURE(rights_of(access, &peer) == rights_of(again, &peer));
    }
    ENSURE(access_find_token(access, SLICE("abc")) == access_find_token(again, SLICE("abc")));
    if (access_find_token(access, SLICE("abc"))) {
        unsigned token = access_find_token(access, SLICE("abc"));

        ENSURE(access_find_token_again(again, access, token) == token);
        ENSURE(rights_by(access_of_token(access, token)) ==
               rights_by(access_of_token(again, token)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data + 1, size > 0 ? size - 1 : 0);
    bool tokens = size > 0 && data[0] % 2;
    struct access *access, *again;

    if (size == 0) {
        return 0;
    }
    access = make(tokens, text);
    again = make(tokens, text);
    ENSURE(!access == !again);
    if (access) {
        compare(access, again);
    }
    access_free(access);
    access_free(again);
    return 0;
}
