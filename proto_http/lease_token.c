/* SPDX-License-Identifier: MIT */
#include "proto_http/lease_token.h"

#include "core/base/base64.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

void lease_token_write(const struct lease_token *token, char *to)
{
    base64url_encode(slice_of((const char *)token->bits, LEASE_TOKEN_SIZE), to);
}

bool lease_token_read(struct slice text, struct lease_token *token)
{
    return base64url_decode(text, (char *)token->bits, LEASE_TOKEN_SIZE);
}

bool lease_print_of(const struct lease_token *token, struct lease_print *print)
{
    unsigned char whole[SHA256_DIGEST_LENGTH];

    if (!SHA256(token->bits, LEASE_TOKEN_SIZE, whole)) {
        return false;
    }
    memcpy(print->bits, whole, LEASE_PRINT_SIZE);
    return true;
}

bool lease_print_equal(const struct lease_print *a, const struct lease_print *b)
{
    return CRYPTO_memcmp(a->bits, b->bits, LEASE_PRINT_SIZE) == 0;
}

bool lease_tokens_make(struct lease_tokens *tokens, struct lease_token *token)
{
    struct lease_token *next;

    if (tokens->left == 0) {
        if (RAND_bytes((unsigned char *)tokens->next, sizeof tokens->next) != 1) {
            return false;
        }
        tokens->left = LEASE_TOKENS_AT_ONCE;
    }
    next = &tokens->next[--tokens->left];
    *token = *next;
    OPENSSL_cleanse(next, sizeof *next);
    return true;
}
