/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SECRETS_H
#define TANDEM_PUSH_SECRETS_H

// The keys by which requests to an endpoint are signed, as Standard Webhooks has them: `whsec_` and
// the base64 of 24 to 64 bytes. While one key replaces another there are several: each request is
// signed by all, and the receiver accepts it where one of them is the one that it knows.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stddef.h>

#define SECRETS_MAX 4
#define SECRET_BYTES_MIN 24
#define SECRET_BYTES_MAX 64

struct evp_pkey_st; // OpenSSL's EVP_PKEY

struct secrets {
    struct evp_pkey_st *keys[SECRETS_MAX]; /* private */
    size_t count;
};

// Adds the secrets of a text, which are divided by blanks or line ends. False with the reason,
// which names the key that the text belongs to and does not show the text; what was added stays,
// for secrets_clear().
bool secrets_read(struct secrets *secrets, const char *key, struct slice text,
                  struct error_text *why) MUST_USE;

// Frees them; zeroed ones are allowed. The library wipes the keys.
void secrets_clear(struct secrets *secrets);

#endif
