/* SPDX-License-Identifier: MIT */
#include "tests/access/rules.h"
#include "tests/support/rights.h"

#include <arpa/inet.h>

static struct slice text_of(const char *string)
{
    return slice_str(string);
}

struct access *rules_of(const char *text)
{
    struct error_text why = {""};
    struct access *access = access_parse(text_of(text), "rules", &why);

    if (!access) {
        fail_msg("%s", why.text);
    }
    return access;
}

void expect_refused_bytes(struct slice text, const char *reason)
{
    struct error_text why = {""};
    struct access *access = access_parse(text, "rules", &why);

    assert_null(access);
    assert_string_equal(why.text, reason);
}

void expect_refused(const char *text, const char *reason)
{
    expect_refused_bytes(text_of(text), reason);
}

struct access_peer peer_at(const char *address)
{
    struct access_peer peer = {.has_address = true};
    char mapped[INET6_ADDRSTRLEN + 8];

    (void)snprintf(mapped, sizeof mapped, "%s%s", strchr(address, ':') ? "" : "::ffff:", address);
    assert_int_equal(inet_pton(AF_INET6, mapped, &peer.address), 1);
    return peer;
}

struct access_peer peer_named(const struct slice *name)
{
    return (struct access_peer){.names = name, .name_count = 1};
}

struct access_peer peer_user(uid_t user, const gid_t *groups, size_t group_count)
{
    return (struct access_peer){
        .has_user = true, .user = user, .groups = groups, .group_count = group_count};
}

static unsigned rights_by(struct grants *grants, const char *queue)
{
    unsigned rights;

    assert_non_null(grants);
    rights = rights_on(grants, text_of(queue));
    grants_unref(grants);
    return rights;
}

unsigned rights_of(struct access *access, struct access_peer peer, const char *queue)
{
    return rights_by(access_of_peer(access, &peer), queue);
}

unsigned rights_of_token(struct access *access, unsigned token, const char *queue)
{
    return rights_by(access_of_token(access, token), queue);
}

unsigned token_of(const struct access *access, const char *text)
{
    return access_find_token(access, text_of(text));
}
