/* SPDX-License-Identifier: MIT */
#include "push/spec.h"

#include "push/authorities.h"
#include "push/small_file.h"
#include "push/url.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#define SECRET_FILE_MAX 4096
#define CA_FILE_MAX ((size_t)4 << 20)

// What the fingerprint is of: everything that makes the one endpoint differ from another.
static bool take_print(EVP_MD_CTX *print, const void *bytes, size_t len)
{
    return EVP_DigestUpdate(print, &len, sizeof len) == 1 &&
           EVP_DigestUpdate(print, bytes, len) == 1;
}

static bool print_settings(EVP_MD_CTX *print, const struct push_settings *settings)
{
    return EVP_DigestInit_ex(print, EVP_sha256(), NULL) == 1 &&
           take_print(print, settings->name, strlen(settings->name)) &&
           take_print(print, settings->url, strlen(settings->url)) &&
           take_print(print, settings->secret, strlen(settings->secret)) &&
           take_print(print, &settings->timeout_for, sizeof settings->timeout_for) &&
           take_print(print, &settings->max_answer, sizeof settings->max_answer) &&
           take_print(print, &settings->connections, sizeof settings->connections) &&
           take_print(print, &settings->may_be_private, sizeof settings->may_be_private);
}

static bool read_secrets(struct push_spec *spec, const struct push_settings *settings,
                         EVP_MD_CTX *print, struct error_text *why)
{
    struct small_file file = {0};
    bool good;

    if (!secrets_read(&spec->secrets, "push_secret", slice_str(settings->secret), why)) {
        return false;
    }
    if (*settings->secret_file == '\0') {
        return true;
    }
    if (!small_file_read(&file, "push_secret_file", settings->secret_file, SECRET_FILE_MAX, why)) {
        return false;
    }
    good = secrets_read(&spec->secrets, "push_secret_file", small_file_text(&file), why) &&
           (take_print(print, file.bytes, file.len) || error_set(why, "out of memory"));
    small_file_free(&file);
    return good;
}

static bool read_authorities(struct push_spec *spec, const struct push_settings *settings,
                             EVP_MD_CTX *print, struct error_text *why)
{
    struct small_file file = {0};
    bool good;

    if (*settings->ca_file == '\0') {
        spec->authorities = authorities_of_system(why);
        return spec->authorities != NULL;
    }
    if (!small_file_read(&file, "push_ca", settings->ca_file, CA_FILE_MAX, why)) {
        return false;
    }
    spec->authorities = authorities_read(small_file_text(&file), why);
    good = spec->authorities &&
           (take_print(print, file.bytes, file.len) || error_set(why, "out of memory"));
    small_file_free(&file);
    return good;
}

static bool fill(struct push_spec *spec, const struct push_settings *settings, EVP_MD_CTX *print,
                 struct error_text *why)
{
    bool secure = false;

    spec->connections = settings->connections;
    spec->timeout_for = settings->timeout_for;
    spec->max_answer = (size_t)settings->max_answer;
    spec->may_be_private = settings->may_be_private;
    spec->name = strdup(settings->name);
    spec->url = strdup(settings->url);
    if (!spec->name || !spec->url || !print || !print_settings(print, settings)) {
        return error_set(why, "push: out of memory");
    }
    if (!push_url_check(settings->url, settings->may_be_private, &spec->origin, &secure, why) ||
        !read_secrets(spec, settings, print, why) ||
        (secure && !read_authorities(spec, settings, print, why))) {
        return false;
    }
    return EVP_DigestFinal_ex(print, spec->fingerprint, NULL) == 1 ||
           error_set(why, "push: out of memory");
}

struct push_spec *push_spec_new(const struct push_settings *settings, struct error_text *why)
{
    struct push_spec *spec = calloc(1, sizeof *spec);
    EVP_MD_CTX *print = EVP_MD_CTX_new();
    bool good = false;

    if (spec) {
        good = fill(spec, settings, print, why);
    } else {
        (void)error_set(why, "push: out of memory");
    }
    EVP_MD_CTX_free(print);
    if (!good) {
        push_spec_free(spec);
        return NULL;
    }
    return spec;
}

void push_spec_free(struct push_spec *spec)
{
    if (!spec) {
        return;
    }
    secrets_clear(&spec->secrets);
    X509_STORE_free(spec->authorities);
    free(spec->origin);
    free(spec->url);
    free(spec->name);
    free(spec);
}

bool push_spec_equal(const struct push_spec *a, const struct push_spec *b)
{
    return CRYPTO_memcmp(a->fingerprint, b->fingerprint, sizeof a->fingerprint) == 0;
}

bool push_settings_check(const struct push_settings *settings, struct error_text *why)
{
    struct push_spec *spec = push_spec_new(settings, why);
    bool good = spec != NULL;

    push_spec_free(spec);
    return good;
}
