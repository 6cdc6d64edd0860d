/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_ACCESS_H
#define TANDEM_ACCESS_ACCESS_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/grants.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Access control: the rules of one file, and the rights that they grant to a caller. A caller is
// identified by its address, its user, its certificate or its token. The rules that match a caller
// add up. The result is a set of grants (core/grants.h), and only the core checks them. ACCESS.md
// describes the syntax of the rules.
//
// Rules do not change: reading the file again makes new ones. One thread uses them.

// The maximum number of names of a peer that are compared with rules.
#define ACCESS_NAMES_MAX 64

// The identity of a peer that has shown no token. If it is zeroed, only rules for any caller match.
struct access_peer {
    bool has_address;        // the peer connected over IP
    struct in6_addr address; // an IPv4 address is mapped (::ffff:a.b.c.d)
    bool has_user;           // the peer is a process of `user`, connected by a unix socket
    uid_t user;
    const gid_t *groups; // of the user, including the primary group; borrowed
    size_t group_count;
    const struct slice *names; // of its certificate: the common name, and alternative names of the
                               // kinds DNS, email, URI and IP address, without the kind; borrowed
    size_t name_count;
};

struct access;

// Reads the rules, and looks up the users and groups that they name. NULL, with `*why`: the file
// cannot be read, or a line is invalid.
struct access *access_read(const char *path, struct error_text *why) MUST_USE;

// The same for a file of http.tokens. Each line has the hash of a token and globs of functions: the
// token may submit to these functions, and observe and cancel their jobs. Its name is
// http.tokens:LINE.
struct access *access_read_tokens(const char *path, struct error_text *why) MUST_USE;

// The same for a text in memory, which is copied. Messages name it `path`.
struct access *access_parse(struct slice text, const char *path, struct error_text *why) MUST_USE;
struct access *access_parse_tokens(struct slice text, const char *path,
                                   struct error_text *why) MUST_USE;

// NULL is allowed. Grants that were made from the rules stay valid.
void access_free(struct access *access);

// The grants of a peer that has shown no token; the caller gets a reference. NULL: no memory, and
// the peer has no rights. Callers that match the same rules of one `access` share their grants, so
// equal addresses of grants mean equal rights.
struct grants *access_of_peer(struct access *access, const struct access_peer *peer) MUST_USE;

// The name of such a peer in log lines: the ROLE of the first rule that matches it and has one;
// empty if there is none. Borrowed from `access`.
struct slice access_role_of_peer(struct access *access, const struct access_peer *peer);

// The number of tokens and rules that the check of a token compares.
size_t access_count(const struct access *access);

// The number of the token, for access_of_token(). 0: the token is unknown. The time does not depend
// on the token.
unsigned access_find_token(const struct access *access, struct slice text);

// The number of the token whose hash is that of `token` in `before`, the rules before the file was
// read again; its name may have changed. 0: no token has that hash now, so the token was revoked.
unsigned access_find_token_again(const struct access *access, const struct access *before,
                                 unsigned token);
struct slice access_token_name(const struct access *access, unsigned token);

// The grants of a caller that has shown the token, whatever its other identity. Otherwise as
// access_of_peer().
struct grants *access_of_token(struct access *access, unsigned token) MUST_USE;

// As access_role_of_peer().
struct slice access_role_of_token(const struct access *access, unsigned token);

#endif
