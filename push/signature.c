/* SPDX-License-Identifier: MIT */
#include "push/signature.h"

#include "core/base/base64.h"
#include "core/base/digits.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

//
// Secrets
//

#define MARK "whsec_"
#define MARK_LEN (sizeof MARK - 1)
// The longest base64 of a secret, including padding.
#define BASE64_MAX ((SECRET_BYTES_MAX + 2) / 3 * 4)

static bool secrets_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Takes the next word off the text; empty: there is none.
static struct slice secrets_next(struct slice *text)
{
    struct slice word;
    size_t len = 0;

    while (text->len > 0 && secrets_is_blank(*text->ptr)) {
        *text = slice_from(*text, 1);
    }
    while (len < text->len && !secrets_is_blank(text->ptr[len])) {
        len++;
    }
    word = slice_of(text->ptr, len);
    *text = slice_from(*text, len);
    return word;
}

static bool secrets_is_base64(struct slice text)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t pads = 0;

    while (pads < 2 && pads < text.len && text.ptr[text.len - 1 - pads] == '=') {
        pads++;
    }
    for (size_t i = 0; i < text.len - pads; i++) {
        if (!memchr(alphabet, text.ptr[i], sizeof alphabet - 1)) {
            return false;
        }
    }
    return text.len > 0 && text.len % 4 == 0;
}

// Decodes to `to`, which has room for BASE64_MAX bytes. 0: the text is not valid base64.
static size_t secrets_decode(struct slice text, unsigned char *to)
{
    int len;

    if (text.len > BASE64_MAX || !secrets_is_base64(text)) {
        return 0;
    }
    len = EVP_DecodeBlock(to, (const unsigned char *)text.ptr, (int)text.len);
    // OpenSSL also counts the bytes that the padding stands for.
    for (size_t i = text.len; len > 0 && text.ptr[i - 1] == '='; i--) {
        len--;
    }
    return len > 0 ? (size_t)len : 0;
}

static bool secrets_add(struct secrets *secrets, const char *key, struct slice word,
                        struct error_text *why)
{
    unsigned char bytes[BASE64_MAX];
    size_t len = 0;
    EVP_PKEY *secret;

    if (secrets->count == SECRETS_MAX) {
        return error_set(why, "%s: more than %d secrets", key, SECRETS_MAX);
    }
    if (word.len > MARK_LEN && memcmp(word.ptr, MARK, MARK_LEN) == 0) {
        len = secrets_decode(slice_from(word, MARK_LEN), bytes);
    }
    if (len < SECRET_BYTES_MIN || len > SECRET_BYTES_MAX) {
        OPENSSL_cleanse(bytes, sizeof bytes);
        return error_set(why, "%s: not " MARK " and base64 of %d to %d bytes", key,
                         SECRET_BYTES_MIN, SECRET_BYTES_MAX);
    }
    secret = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, NULL, bytes, len);
    OPENSSL_cleanse(bytes, sizeof bytes);
    if (!secret) {
        return error_set(why, "%s: out of memory", key);
    }
    secrets->keys[secrets->count++] = secret;
    return true;
}

bool secrets_read(struct secrets *secrets, const char *key, struct slice text,
                  struct error_text *why)
{
    struct slice word;

    while ((word = secrets_next(&text)).len > 0) {
        if (!secrets_add(secrets, key, word, why)) {
            return false;
        }
    }
    return true;
}

void secrets_clear(struct secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++) {
        EVP_PKEY_free(secrets->keys[i]);
    }
    *secrets = (struct secrets){0};
}

//
// Signatures
//

#define DIGEST_SIZE 32

static bool signature_begin_one(struct signature *signature, EVP_PKEY *key)
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
        if (!signature_begin_one(signature, secrets->keys[i])) {
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
