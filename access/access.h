/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_ACCESS_H
#define TANDEM_ACCESS_ACCESS_H

// Who may do what: the rules of one file, and what they grant to a caller. A caller is who its
// address, its user, its certificate or its token says that it is. The rules of all that fit add
// up; the grants are those of the core (core/grants.h), which alone looks at them afterwards.
// ACCESS.md has the rules as they are written.
//
// Rules do not change: a file that is read again makes new ones. One thread.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/grants.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// How many names of a peer are looked at.
#define ACCESS_NAMES_MAX 64

// What a peer is by itself. Zeroed, it is nobody.
struct access_peer {
    bool has_address;        // it came over IP
    struct in6_addr address; // an IPv4 one is mapped (::ffff:a.b.c.d)
    bool has_user;           // it came by a unix socket, whose other end is
    uid_t user;
    const gid_t *groups; // of the user, with its first; borrowed
    size_t group_count;
    const struct slice *names; // of its certificate: common name, and alternative names of kinds
                               // DNS, email, URI and IP address, without their kind; borrowed
    size_t name_count;
};

struct access;

// Reads the rules; NULL with the reason in `why` where the file cannot be read or any line of it is
// wrong. Looks up the users and groups that it names.
struct access *access_read(const char *path, struct error_text *why) MUST_USE;

// The same with a file of http.tokens: a line for each token, with its hash and the globs of
// functions that it may submit to, and whose jobs it may see and cancel. Its tokens are named
// http.tokens:LINE.
struct access *access_read_tokens(const char *path, struct error_text *why) MUST_USE;

// The same with texts in memory, which are copied; `path` is for the reason.
struct access *access_parse(struct slice text, const char *path, struct error_text *why) MUST_USE;
struct access *access_parse_tokens(struct slice text, const char *path,
                                   struct error_text *why) MUST_USE;

// NULL is allowed. Grants that were made of the rules stay.
void access_free(struct access *access);

// What the rules grant to a peer that has shown no token; the caller has a reference. NULL without
// memory: nothing is granted then. Those to whom the same rules of one `access` apply share their
// grants, so that whether two are the same shows in their addresses.
struct grants *access_of_peer(struct access *access, const struct access_peer *peer) MUST_USE;

// What log lines call such a peer: the ROLE of the first rule that fits it and has one; empty where
// none has. Borrowed from `access`.
struct slice access_role_of_peer(struct access *access, const struct access_peer *peer);

// How many tokens and rules are looked at for a token and what it grants.
size_t access_count(const struct access *access);

// The token of that text, as a number for access_of_token(); 0: there is none. Takes the same time
// whichever it is.
unsigned access_find_token(const struct access *access, struct slice text);

// After the file was read again: the token that has the hash of that one in `before`, whatever its
// name is now. One that has got another hash has been revoked: 0.
unsigned access_find_token_again(const struct access *access, const struct access *before,
                                 unsigned token);
struct slice access_token_name(const struct access *access, unsigned token);

// What the rules grant to whoever has shown that token, whatever else it is. As access_of_peer().
struct grants *access_of_token(struct access *access, unsigned token) MUST_USE;

// As access_role_of_peer().
struct slice access_role_of_token(const struct access *access, unsigned token);

#endif
