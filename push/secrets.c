/* SPDX-License-Identifier: MIT */
#include "push/secrets.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#define MARK "whsec_"
#define MARK_LEN (sizeof MARK - 1)
// The longest base64 of a secret, padding included.
#define BASE64_MAX ((SECRET_BYTES_MAX + 2) / 3 * 4)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The next word of the text, which is taken off it; empty at the end.
static struct slice next_word(struct slice *text)
{
    struct slice word;
    size_t len = 0;

    while (text->len > 0 && is_blank(*text->ptr)) {
        *text = slice_from(*text, 1);
    }
    while (len < text->len && !is_blank(text->ptr[len])) {
        len++;
    }
    word = slice_of(text->ptr, len);
    *text = slice_from(*text, len);
    return word;
}

static bool is_base64(struct slice text)
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

// Decodes to `to`, which has room for the longest one; 0: it is none.
static size_t decode(struct slice text, unsigned char *to)
{
    int len;

    if (text.len > BASE64_MAX || !is_base64(text)) {
        return 0;
    }
    len = EVP_DecodeBlock(to, (const unsigned char *)text.ptr, (int)text.len);
    // The library counts what the padding stands for, too.
    for (size_t i = text.len; len > 0 && text.ptr[i - 1] == '='; i--) {
        len--;
    }
    return len > 0 ? (size_t)len : 0;
}

static bool add(struct secrets *secrets, const char *key, struct slice word, struct error_text *why)
{
    unsigned char bytes[BASE64_MAX];
    size_t len = 0;
    EVP_PKEY *secret;

    if (secrets->count == SECRETS_MAX) {
        return error_set(why, "%s: more than %d secrets", key, SECRETS_MAX);
    }
    if (word.len > MARK_LEN && memcmp(word.ptr, MARK, MARK_LEN) == 0) {
        len = decode(slice_from(word, MARK_LEN), bytes);
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

    while ((word = next_word(&text)).len > 0) {
        if (!add(secrets, key, word, why)) {
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
