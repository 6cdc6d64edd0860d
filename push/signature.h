/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SIGNATURE_H
#define TANDEM_PUSH_SIGNATURE_H

// The signature of a request, by the symmetric scheme of Standard Webhooks: for each secret, "v1,"
// and the base64 of HMAC-SHA256 over the message id, a dot, the time in seconds since 1970, a dot,
// and the body. It is computed in pieces, so that a large body does not hold up the loop.
//
// A secret is `whsec_` and the base64 of 24 to 64 bytes. An endpoint has several while one secret
// replaces another: each request is signed with all of them, and the receiver accepts it if it
// knows one.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRETS_MAX 4
#define SECRET_BYTES_MIN 24
#define SECRET_BYTES_MAX 64

struct evp_pkey_st;   // OpenSSL's EVP_PKEY
struct evp_md_ctx_st; // OpenSSL's EVP_MD_CTX

struct secrets {
    struct evp_pkey_st *keys[SECRETS_MAX]; /* private */
    size_t count;
};

// Adds the secrets in `text`, which are separated by blanks or line ends. False, with `*why`, which
// names `key`, the setting of the text, and does not show the text. Secrets that were added must
// still be freed by secrets_clear().
bool secrets_read(struct secrets *secrets, const char *key, struct slice text,
                  struct error_text *why) MUST_USE;

// Frees the secrets; a zeroed struct is allowed. OpenSSL wipes the keys.
void secrets_clear(struct secrets *secrets);

struct signature {
    struct evp_md_ctx_st *contexts[SECRETS_MAX]; /* private */
    size_t count;                                // the number of secrets
};

// "v1,", 44 digits of base64, and a separator or NUL.
#define SIGNATURE_SIZE (SECRETS_MAX * (3 + 44 + 1))

// Begins with the id and the time; the secrets may be freed then. False: no memory. The signature
// must be cleared in either case.
bool signature_begin(struct signature *signature, const struct secrets *secrets, struct slice id,
                     int64_t seconds) MUST_USE;

// Adds a piece of the body. False: OpenSSL failed.
bool signature_take(struct signature *signature, struct slice piece) MUST_USE;

// After the last piece: writes the value of the header field, and NUL. False: OpenSSL failed.
bool signature_write(struct signature *signature, char text[SIGNATURE_SIZE]) MUST_USE;

// Frees the memory; zeroed and cleared structs are allowed.
void signature_clear(struct signature *signature);

#endif
