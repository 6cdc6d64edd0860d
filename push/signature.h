/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SIGNATURE_H
#define TANDEM_PUSH_SIGNATURE_H

// The signature of a request, by the symmetric scheme of Standard Webhooks: for each secret
// "v1," and the base64 of HMAC-SHA256 over the message's id, a dot, the time in seconds since 1970,
// a dot, and the body. It is worked out piece by piece, so that a large body does not hold up the
// loop.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "push/secrets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evp_md_ctx_st; // OpenSSL's EVP_MD_CTX

struct signature {
    struct evp_md_ctx_st *contexts[SECRETS_MAX]; /* private */
    size_t count;                                // how many secrets sign
};

// "v1,", 44 digits of base64 and what divides it from the next one or ends the text.
#define SIGNATURE_SIZE (SECRETS_MAX * (3 + 44 + 1))

// Begins with the id and the time. The secrets may go meanwhile. False without memory; to be
// cleared in any case.
bool signature_begin(struct signature *signature, const struct secrets *secrets, struct slice id,
                     int64_t seconds) MUST_USE;

// The next piece of the body. False where the library fails.
bool signature_take(struct signature *signature, struct slice piece) MUST_USE;

// The body is over: writes the value of the header, and NUL. False where the library fails.
bool signature_write(struct signature *signature, char text[SIGNATURE_SIZE]) MUST_USE;

// Frees what it holds. Zeroed and cleared ones are allowed.
void signature_clear(struct signature *signature);

#endif
