/* SPDX-License-Identifier: MIT */
#include "access/token.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stddef.h>

_Static_assert(TOKEN_DIGEST_SIZE == SHA256_DIGEST_LENGTH, "a digest is one of SHA-256");

static const char digits[] = "0123456789abcdef";

bool token_digest(struct slice token, struct token_digest *digest)
{
    const char *bytes = token.len > 0 ? token.ptr : "";

    return SHA256((const unsigned char *)bytes, token.len, digest->bytes) != NULL;
}

bool token_digest_equal(const struct token_digest *a, const struct token_digest *b)
{
    return CRYPTO_memcmp(a->bytes, b->bytes, TOKEN_DIGEST_SIZE) == 0;
}

bool token_digest_read(struct slice text, struct token_digest *digest)
{
    if (text.len != TOKEN_HASH_SIZE - 1) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = memchr(digits, text.ptr[i], sizeof digits - 1);
        unsigned value = digit ? (unsigned)(digit - digits) : 0;

        if (!digit) {
            return false;
        }
        digest->bytes[i / 2] = (unsigned char)(i % 2 ? digest->bytes[i / 2] | value : value << 4);
    }
    return true;
}

void token_digest_write(const struct token_digest *digest, char hash[TOKEN_HASH_SIZE])
{
    for (size_t i = 0; i < TOKEN_DIGEST_SIZE; i++) {
        hash[2 * i] = digits[digest->bytes[i] >> 4];
        hash[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    hash[TOKEN_HASH_SIZE - 1] = '\0';
}
