/* SPDX-License-Identifier: MIT */
#include "push/push_spec.h"

#include "os/small_file.h"
#include "push/special_address.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <limits.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//
// The URL
//

struct url_parts {
    char *scheme, *user, *password, *host, *port;
};

static void url_parts_free(struct url_parts *parts)
{
    curl_free(parts->scheme);
    curl_free(parts->user);
    curl_free(parts->password);
    curl_free(parts->host);
    curl_free(parts->port);
}

// Sets `*text` to the part, or to NULL if there is none. False: no memory.
static bool url_part(CURLU *url, CURLUPart which, unsigned flags, char **text)
{
    return curl_url_get(url, which, text, flags) != CURLUE_OUT_OF_MEMORY;
}

static bool url_split(CURLU *url, struct url_parts *parts)
{
    return url_part(url, CURLUPART_SCHEME, 0, &parts->scheme) &&
           url_part(url, CURLUPART_USER, 0, &parts->user) &&
           url_part(url, CURLUPART_PASSWORD, 0, &parts->password) &&
           url_part(url, CURLUPART_HOST, 0, &parts->host) &&
           url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, &parts->port) && parts->scheme &&
           parts->host && parts->port;
}

// Whether the host is written as a special address. The addresses of a name are checked when it is
// connected to.
static bool url_host_is_special(const char *host)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    char text[INET6_ADDRSTRLEN];
    size_t len = strlen(host);

    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        return address_is_special((const struct sockaddr *)(const void *)&v4);
    }
    if (*host != '[' || len - 2 >= sizeof text) {
        return false;
    }
    memcpy(text, host + 1, len - 2);
    text[len - 2] = '\0';
    return inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 &&
           address_is_special((const struct sockaddr *)(const void *)&v6);
}

static char *url_origin(const struct url_parts *parts)
{
    size_t size = strlen(parts->scheme) + strlen(parts->host) + strlen(parts->port) + 5;
    char *origin = malloc(size);

    if (origin) {
        (void)snprintf(origin, size, "%s://%s:%s", parts->scheme, parts->host, parts->port);
    }
    return origin;
}

static bool url_check_parts(const struct url_parts *parts, bool may_be_private,
                            struct error_text *why)
{
    if (strcmp(parts->scheme, "https") != 0 && strcmp(parts->scheme, "http") != 0) {
        return error_set(why, "push: neither http nor https");
    }
    if (parts->user || parts->password) {
        return error_set(why, "push: a user or password in it would be shown to others");
    }
    if (!may_be_private && url_host_is_special(parts->host)) {
        return error_set(why, "push: %s is not of the public Internet (push_private)", parts->host);
    }
    return true;
}

static bool push_url_check(const char *url, bool may_be_private, char **origin, bool *secure,
                           struct error_text *why)
{
    struct url_parts parts = {0};
    CURLU *parser = curl_url();
    bool good = false;

    if (!parser) {
        return error_set(why, "push: out of memory");
    }
    if (curl_url_set(parser, CURLUPART_URL, url, 0) != CURLUE_OK) {
        (void)error_set(why, "push: not a URL");
    } else if (!url_split(parser, &parts)) {
        (void)error_set(why, "push: not a URL with a host");
    } else if (url_check_parts(&parts, may_be_private, why)) {
        *secure = strcmp(parts.scheme, "https") == 0;
        *origin = url_origin(&parts);
        good = *origin || error_set(why, "push: out of memory");
    }
    url_parts_free(&parts);
    curl_url_cleanup(parser);
    return good;
}

//
// Files
//

// Reads a regular file that the key names.
static bool push_read_file(struct small_file *file, const char *key, const char *path, size_t most,
                           struct error_text *why)
{
    int error = small_file_read(file, path, most);

    return error == 0 || error_set(why, "%s: %s: %s", key, path, small_file_error(error));
}

//
// Certificates
//

// With this flag, every certificate in the store is trusted, even if it is not self-signed.
static X509_STORE *authorities_new(void)
{
    X509_STORE *store = X509_STORE_new();

    if (store && X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) != 1) {
        X509_STORE_free(store);
        store = NULL;
    }
    return store;
}

static struct x509_store_st *authorities_of_system(struct error_text *why)
{
    X509_STORE *store = authorities_new();

    if (store && X509_STORE_set_default_paths(store) != 1) {
        X509_STORE_free(store);
        store = NULL;
    }
    if (!store) {
        (void)error_set(why, "push: the system's certificates cannot be used");
    }
    ERR_clear_error();
    return store;
}

// The number of certificates; 0: none, or one that cannot be read.
static unsigned authorities_add_all(X509_STORE *store, BIO *text)
{
    unsigned count = 0;
    X509 *certificate;
    bool good = true;

    while (good && (certificate = PEM_read_bio_X509(text, NULL, NULL, NULL))) {
        good = X509_STORE_add_cert(store, certificate) == 1;
        X509_free(certificate);
        count++;
    }
    // OpenSSL reports the end of the text as a missing line.
    good = good && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    return good ? count : 0;
}

static struct x509_store_st *authorities_read(struct slice text, struct error_text *why)
{
    X509_STORE *store = authorities_new();
    BIO *bio = text.len < INT_MAX ? BIO_new_mem_buf(text.ptr, (int)text.len) : NULL;

    if (!store || !bio || authorities_add_all(store, bio) == 0) {
        (void)error_set(why, "push_ca: no certificates in PEM that can be read");
        X509_STORE_free(store);
        store = NULL;
    }
    BIO_free(bio);
    ERR_clear_error();
    return store;
}

//
// The spec
//

#define SECRET_FILE_MAX 4096
#define CA_FILE_MAX ((size_t)4 << 20)

// The fingerprint is of all settings and files, so that it differs if the endpoint does.
static bool push_hash(EVP_MD_CTX *hash, const void *bytes, size_t len)
{
    return EVP_DigestUpdate(hash, &len, sizeof len) == 1 && EVP_DigestUpdate(hash, bytes, len) == 1;
}

static bool push_hash_settings(EVP_MD_CTX *hash, const struct push_settings *settings)
{
    return EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
           push_hash(hash, settings->name, strlen(settings->name)) &&
           push_hash(hash, settings->url, strlen(settings->url)) &&
           push_hash(hash, settings->secret, strlen(settings->secret)) &&
           push_hash(hash, &settings->timeout_for, sizeof settings->timeout_for) &&
           push_hash(hash, &settings->max_answer, sizeof settings->max_answer) &&
           push_hash(hash, &settings->connections, sizeof settings->connections) &&
           push_hash(hash, &settings->may_be_private, sizeof settings->may_be_private);
}

static bool push_read_secrets(struct push_spec *spec, const struct push_settings *settings,
                              EVP_MD_CTX *hash, struct error_text *why)
{
    struct small_file file = {0};
    bool good;

    if (!secrets_read(&spec->secrets, "push_secret", slice_str(settings->secret), why)) {
        return false;
    }
    if (*settings->secret_file == '\0') {
        return true;
    }
    if (!push_read_file(&file, "push_secret_file", settings->secret_file, SECRET_FILE_MAX, why)) {
        return false;
    }
    good = secrets_read(&spec->secrets, "push_secret_file", small_file_text(&file), why) &&
           (push_hash(hash, file.bytes, file.len) || error_set(why, "out of memory"));
    small_file_free(&file);
    return good;
}

static bool push_read_authorities(struct push_spec *spec, const struct push_settings *settings,
                                  EVP_MD_CTX *hash, struct error_text *why)
{
    struct small_file file = {0};
    bool good;

    if (*settings->ca_file == '\0') {
        spec->authorities = authorities_of_system(why);
        return spec->authorities != NULL;
    }
    if (!push_read_file(&file, "push_ca", settings->ca_file, CA_FILE_MAX, why)) {
        return false;
    }
    spec->authorities = authorities_read(small_file_text(&file), why);
    good = spec->authorities &&
           (push_hash(hash, file.bytes, file.len) || error_set(why, "out of memory"));
    small_file_free(&file);
    return good;
}

static bool push_spec_fill(struct push_spec *spec, const struct push_settings *settings,
                           EVP_MD_CTX *hash, struct error_text *why)
{
    bool secure = false;

    spec->connections = settings->connections;
    spec->timeout_for = settings->timeout_for;
    spec->max_answer = (size_t)settings->max_answer;
    spec->may_be_private = settings->may_be_private;
    spec->name = strdup(settings->name);
    spec->url = strdup(settings->url);
    if (!spec->name || !spec->url || !hash || !push_hash_settings(hash, settings)) {
        return error_set(why, "push: out of memory");
    }
    if (!push_url_check(settings->url, settings->may_be_private, &spec->origin, &secure, why) ||
        !push_read_secrets(spec, settings, hash, why) ||
        (secure && !push_read_authorities(spec, settings, hash, why))) {
        return false;
    }
    return EVP_DigestFinal_ex(hash, spec->fingerprint, NULL) == 1 ||
           error_set(why, "push: out of memory");
}

struct push_spec *push_spec_new(const struct push_settings *settings, struct error_text *why)
{
    struct push_spec *spec = calloc(1, sizeof *spec);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool good = false;

    if (spec) {
        good = push_spec_fill(spec, settings, hash, why);
    } else {
        (void)error_set(why, "push: out of memory");
    }
    EVP_MD_CTX_free(hash);
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
