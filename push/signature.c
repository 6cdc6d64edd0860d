/* SPDX-License-Identifier: MIT */
#include "push/signature.h"

#include "core/base/base64.h"
#include "core/base/digits.h"

#include <openssl/evp.h>
#include <string.h>

#define DIGEST_SIZE 32

static bool begin_one(struct signature *signature, EVP_PKEY *key)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    if (!context) {
        return false;
    }
    signature->contexts[signature->count++] = context;
    return EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1;
}

bool signature_begin(struct signature *signature, const struct secrets *secrets, struct slice id,
                     int64_t seconds)
{
    char text[DIGITS_MAX + 2];
    char *end = text;

    *signature = (struct signature){.count = 0};
    for (size_t i = 0; i < secrets->count; i++) {
        if (!begin_one(signature, secrets->keys[i])) {
            return false;
        }
    }
    *end++ = '.';
    end = digits_write(end, (uint64_t)seconds);
    *end++ = '.';
    return signature_take(signature, id) &&
           signature_take(signature, slice_of(text, (size_t)(end - text)));
}

bool signature_take(struct signature *signature, struct slice piece)
{
    for (size_t i = 0; i < signature->count; i++) {
        if (EVP_DigestSignUpdate(signature->contexts[i], piece.ptr, piece.len) != 1) {
            return false;
        }
    }
    return true;
}

bool signature_write(struct signature *signature, char text[SIGNATURE_SIZE])
{
    char *at = text;

    for (size_t i = 0; i < signature->count; i++) {
        unsigned char digest[DIGEST_SIZE];
        size_t len = sizeof digest;

        if (EVP_DigestSignFinal(signature->contexts[i], digest, &len) != 1) {
            return false;
        }
        if (i > 0) {
            *at++ = ' ';
        }
        memcpy(at, "v1,", 3);
        at += 3;
        base64_encode(slice_of((const char *)digest, len), at);
        at += base64_encoded_len(len);
    }
    *at = '\0';
    return true;
}

void signature_clear(struct signature *signature)
{
    for (size_t i = 0; i < signature->count; i++) {
        EVP_MD_CTX_free(signature->contexts[i]);
    }
    *signature = (struct signature){.count = 0};
}
