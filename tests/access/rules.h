/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_ACCESS_RULES_H
#define TANDEM_TESTS_ACCESS_RULES_H

// Rules in memory, peers, and their rights.

#include "access/access.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The hash of "abc", and of "def".
#define HASH_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HASH_DEF "cb8379ac2098aa165029e3938a51da0bcecfc008fd6795f401178647f96c5b34"

// The rules of a string, which must be good.
struct access *rules_of(const char *text);

// A text is refused with exactly that reason, its path being "rules".
void expect_refused(const char *text, const char *reason);
void expect_refused_bytes(struct slice text, const char *reason);

// Peers that are one thing each.
struct access_peer peer_at(const char *address);
struct access_peer peer_named(const struct slice *name);
struct access_peer peer_user(uid_t user, const gid_t *groups, size_t group_count);

// The rights of a peer, and of a token, to a queue of that name.
unsigned rights_of(struct access *access, struct access_peer peer, const char *queue);
unsigned rights_of_token(struct access *access, unsigned token, const char *queue);

// The number of the token of that text.
unsigned token_of(const struct access *access, const char *text);

#endif
