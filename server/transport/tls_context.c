/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

// A client's chain has no more certificates than this above its own.
enum { CHAIN_DEPTH_MAX = 8 };

// While a context is made: what it is made of.
struct making {
    SSL_CTX *context;
    const struct tls_settings *settings;
    struct tls_file certificate;
    struct tls_file key;
    struct tls_file client_ca;
};

// The reason is that of the key, or of a file.
static bool complain(struct error_text *why, const char *key, const char *file, const char *what)
{
    return error_set(why, "tls.%s%s%s: %s", key, *file ? " " : "", file, what);
}

static bool complain_openssl(struct error_text *why, const char *key, const char *file)
{
    return complain(why, key, file, tls_openssl_reason());
}

// A server has nobody to ask.
static int no_password(char *room, int len, int writing, void *asked)
{
    (void)room;
    (void)len;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

// The next certificate of the file; NULL at its end, or where it is damaged. `*asked`: it needs
// a password.
static X509 *next_certificate(BIO *pem, bool *asked)
{
    ERR_clear_error();
    return PEM_read_bio_X509(pem, NULL, no_password, asked);
}

// Whether nothing was wrong but that the file has no more.
static bool ended_well(void)
{
    return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
}

static bool add_to_chain(struct making *making, X509 *certificate, unsigned index)
{
    bool added;

    if (index > 0) {
        return SSL_CTX_add0_chain_cert(making->context, certificate) == 1;
    }
    added = SSL_CTX_use_certificate(making->context, certificate) == 1;
    if (added) {
        X509_free(certificate);
    }
    return added;
}

static bool add_to_authorities(struct making *making, X509 *certificate, unsigned index)
{
    bool added = X509_STORE_add_cert(SSL_CTX_get_cert_store(making->context), certificate) == 1 &&
                 SSL_CTX_add_client_CA(making->context, certificate) == 1;

    (void)index;
    if (added) {
        X509_free(certificate);
    }
    return added;
}

// Adds each certificate of the file, which has one at least; `add` owns what it has added.
static bool add_certificates(struct making *making, const struct tls_file *file, const char *key,
                             const char *path, bool (*add)(struct making *, X509 *, unsigned),
                             struct error_text *why)
{
    BIO *pem = BIO_new_mem_buf(file->bytes, (int)file->len);
    X509 *certificate;
    unsigned count = 0;
    bool asked = false;
    bool good = pem != NULL;

    while (good && (certificate = next_certificate(pem, &asked))) {
        good = add(making, certificate, count++);
        if (!good) {
            X509_free(certificate);
        }
    }
    (void)BIO_free(pem);
    if (!good) {
        return complain_openssl(why, key, path);
    }
    if (!ended_well()) {
        return complain(why, key, path,
                        asked ? "holds an encrypted certificate" : "holds a damaged certificate");
    }
    return count > 0 || complain(why, key, path, "holds no certificate in PEM");
}

// A key that others can read is no secret, and one that they can write is not ours.
static bool use_key(struct making *making, struct error_text *why)
{
    bool apart = making->settings->key[0] != '\0';
    const struct tls_file *file = apart ? &making->key : &making->certificate;
    const char *name = apart ? "key" : "certificate";
    const char *path = apart ? making->settings->key : making->settings->certificate;
    BIO *pem = BIO_new_mem_buf(file->bytes, (int)file->len);
    bool asked = false;
    EVP_PKEY *key;
    bool good;

    ERR_clear_error();
    key = pem ? PEM_read_bio_PrivateKey(pem, NULL, no_password, &asked) : NULL;
    (void)BIO_free(pem);
    if (!key) {
        return complain(why, name, path,
                        asked ? "the private key is encrypted"
                              : "holds no private key in PEM, or a damaged one");
    }
    if (file->is_public) {
        good = complain(why, name, path,
                        "holds a private key and is open to everybody; `chmod o=` helps");
    } else {
        good = (SSL_CTX_use_PrivateKey(making->context, key) == 1 &&
                SSL_CTX_check_private_key(making->context) == 1) ||
               complain_openssl(why, name, path);
    }
    EVP_PKEY_free(key);
    return good;
}

static bool use_authorities(struct making *making, struct error_text *why)
{
    static const int modes[] = {
        [TLS_CLIENT_CERTS_NONE] = SSL_VERIFY_NONE,
        [TLS_CLIENT_CERTS_OPTIONAL] = SSL_VERIFY_PEER,
        [TLS_CLIENT_CERTS_REQUIRED] = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
    };
    const struct tls_settings *settings = making->settings;

    if (settings->client_ca[0] == '\0' && settings->client_certs != TLS_CLIENT_CERTS_NONE) {
        return complain(why, "client_certs", "", "needs client_ca");
    }
    SSL_CTX_set_verify(making->context, modes[settings->client_certs], NULL);
    SSL_CTX_set_verify_depth(making->context, CHAIN_DEPTH_MAX);
    SSL_CTX_set_max_cert_list(making->context, TLS_CHAIN_MAX);
    return settings->client_ca[0] == '\0' ||
           add_certificates(making, &making->client_ca, "client_ca", settings->client_ca,
                            add_to_authorities, why);
}

static bool use_versions(struct making *making, struct error_text *why)
{
    const struct tls_settings *settings = making->settings;
    int least = settings->min_version == TLS_MIN_VERSION_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;

    ERR_clear_error();
    if (SSL_CTX_set_min_proto_version(making->context, least) != 1) {
        return complain_openssl(why, "min_version", "");
    }
    return settings->ciphers[0] == '\0' ||
           SSL_CTX_set_cipher_list(making->context, settings->ciphers) == 1 ||
           complain_openssl(why, "ciphers", "");
}

// What a session is taken up again for: one that was begun under other rules is not, since the
// peer might not have been let in under these. A ticket says which they were.
static bool use_session_rules(struct making *making, struct error_text *why)
{
    const struct tls_settings *settings = making->settings;
    const int numbers[] = {settings->client_certs, settings->min_version};
    unsigned char rules[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    bool good = digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1 &&
                EVP_DigestUpdate(digest, numbers, sizeof numbers) == 1 &&
                EVP_DigestUpdate(digest, settings->ciphers, strlen(settings->ciphers) + 1) == 1 &&
                EVP_DigestUpdate(digest, making->client_ca.bytes, making->client_ca.len) == 1 &&
                EVP_DigestFinal_ex(digest, rules, &len) == 1 &&
                SSL_CTX_set_session_id_context(making->context, rules, len) == 1;

    EVP_MD_CTX_free(digest);
    return good || complain_openssl(why, "certificate", settings->certificate);
}

static bool read_files(struct making *making, struct error_text *why)
{
    const struct tls_settings *settings = making->settings;
    bool apart = settings->key[0] != '\0';

    if (settings->certificate[0] == '\0') {
        return complain(why, "certificate", "", "no file is named");
    }
    return tls_file_read(&making->certificate, "certificate", settings->certificate, why) &&
           (!apart || tls_file_read(&making->key, "key", settings->key, why)) &&
           (settings->client_ca[0] == '\0' ||
            tls_file_read(&making->client_ca, "client_ca", settings->client_ca, why));
}

// Sessions are kept by the clients, in tickets, so that connections share nothing that is locked.
// One ticket is what a client needs for its next connection, which gives it another. OpenSSL would
// look for a chain among the authorities of clients, in each handshake: what is sent is the file's.
static bool begin_context(struct making *making, struct error_text *why)
{
    SSL_CTX *context;

    ERR_clear_error();
    context = SSL_CTX_new(TLS_server_method());
    if (!context) {
        return complain_openssl(why, "certificate", making->settings->certificate);
    }
    making->context = context;
    (void)SSL_CTX_set_options(context,
                              SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_ENABLE_KTLS);
    (void)SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(context, 1);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_num_tickets(context, 1);
    tls_callbacks_set(context);
    return true;
}

SSL_CTX *tls_context_new(const struct tls_settings *settings, struct error_text *why)
{
    struct making making = {.settings = settings};
    // The level of security that `ciphers` may ask for is to judge the certificate, too.
    bool good =
        read_files(&making, why) && begin_context(&making, why) && use_versions(&making, why) &&
        add_certificates(&making, &making.certificate, "certificate", settings->certificate,
                         add_to_chain, why) &&
        use_key(&making, why) && use_authorities(&making, why) && use_session_rules(&making, why);

    tls_file_free(&making.certificate);
    tls_file_free(&making.key);
    tls_file_free(&making.client_ca);
    if (!good) {
        SSL_CTX_free(making.context);
        return NULL;
    }
    return making.context;
}
