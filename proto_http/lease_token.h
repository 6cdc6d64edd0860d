/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_LEASE_TOKEN_H
#define TANDEM_PROTO_HTTP_LEASE_TOKEN_H

// The secret by which a worker acts on its job: 128 random bits, in base64url (RFC 4648, 5) without
// padding. Anyone who knows a token may finish its job; it cannot be guessed.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

#define LEASE_TOKEN_SIZE 16
#define LEASE_TOKEN_TEXT 22

struct lease_token {
    unsigned char bits[LEASE_TOKEN_SIZE];
};

// Writes LEASE_TOKEN_TEXT bytes, and no NUL.
void lease_token_write(const struct lease_token *token, char *to);

// False if the text is not a token; each token has exactly one spelling.
bool lease_token_read(struct slice text, struct lease_token *token) MUST_USE;

// A digest that identifies a token in a journal without revealing it.
#define LEASE_PRINT_SIZE 16
struct lease_print {
    unsigned char bits[LEASE_PRINT_SIZE];
};

// False if the library fails.
bool lease_print_of(const struct lease_token *token, struct lease_print *print) MUST_USE;

// Takes the same time wherever they differ.
bool lease_print_equal(const struct lease_print *a, const struct lease_print *b);

// Random bits, made for several tokens at once. All zero at first.
#define LEASE_TOKENS_AT_ONCE 256
struct lease_tokens {
    struct lease_token next[LEASE_TOKENS_AT_ONCE]; /* private: used ones are zeroed */
    size_t left;                                   /* private */
};

// A new token; false if the system provides no random bits.
bool lease_tokens_make(struct lease_tokens *tokens, struct lease_token *token) MUST_USE;

#endif
