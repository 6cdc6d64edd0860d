/* SPDX-License-Identifier: MIT */
#include "server/transport/tls.h"

#include "os/small_file.h"
#include "server/process/safe_path.h"
#include "server/transport/tls_private.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The authorities of a whole system take a few hundred KiB.
enum { TLS_FILE_MAX = 4 * 1024 * 1024 };

struct tls_file {
    struct small_file file;
    bool is_public; // users other than the owner and group may read or write it
};

static int tls_file_open(const char *path, struct error_text *why)
{
    struct safe_path place;
    int fd;

    if (!safe_path_find(&place, path, true, why)) {
        return -1;
    }
    fd = safe_path_open(&place, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NULL, why);
    safe_path_close(&place);
    return fd;
}

// Reads a regular file that `key` of [tls] names. The reason in `why` begins with the key and path.
static bool tls_file_read(struct tls_file *file, const char *key, const char *path,
                          struct error_text *why)
{
    struct stat st;
    int fd = tls_file_open(path, why);
    int error;

    if (fd < 0) {
        return error_prefix(why, "tls.%s %s: ", key, path);
    }
    if (fstat(fd, &st) != 0) {
        error = errno;
    } else if (!S_ISREG(st.st_mode)) {
        error = EINVAL;
    } else {
        error = small_file_read_fd(&file->file, fd, TLS_FILE_MAX);
    }
    (void)close(fd);
    if (error) {
        return error_set(why, "tls.%s %s: %s", key, path,
                         error == EFBIG ? "too long" : small_file_error(error));
    }
    file->is_public = (st.st_mode & 007) != 0;
    return true;
}

// The most certificates in a client's chain above its own.
enum { CHAIN_DEPTH_MAX = 8 };

// A context under construction, and the files that it is made from.
struct tls_context_parts {
    SSL_CTX *context;
    const struct tls_settings *settings;
    struct tls_file certificate;
    struct tls_file key;
    struct tls_file client_ca;
};

// The reason names the key, and the file unless it is empty.
static bool tls_complain(struct error_text *why, const char *key, const char *file,
                         const char *what)
{
    return error_set(why, "tls.%s%s%s: %s", key, *file ? " " : "", file, what);
}

static bool tls_complain_openssl(struct error_text *why, const char *key, const char *file)
{
    return tls_complain(why, key, file, tls_openssl_reason());
}

// A server cannot ask for a password.
static int tls_no_password(char *room, int len, int writing, void *asked)
{
    (void)room;
    (void)len;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

// Returns the next certificate of the file; NULL at its end, or if it is damaged. `*asked`: it
// needs a password.
static X509 *tls_next_certificate(BIO *pem, bool *asked)
{
    ERR_clear_error();
    return PEM_read_bio_X509(pem, NULL, tls_no_password, asked);
}

static bool tls_add_to_chain(struct tls_context_parts *parts, X509 *certificate, unsigned index)
{
    bool added;

    if (index > 0) {
        return SSL_CTX_add0_chain_cert(parts->context, certificate) == 1;
    }
    added = SSL_CTX_use_certificate(parts->context, certificate) == 1;
    if (added) {
        X509_free(certificate);
    }
    return added;
}

static bool tls_add_authority(struct tls_context_parts *parts, X509 *certificate, unsigned index)
{
    bool added = X509_STORE_add_cert(SSL_CTX_get_cert_store(parts->context), certificate) == 1 &&
                 SSL_CTX_add_client_CA(parts->context, certificate) == 1;

    (void)index;
    if (added) {
        X509_free(certificate);
    }
    return added;
}

// Adds all certificates of the file, which must have at least one. `add` owns a certificate that it
// has added.
static bool tls_add_certificates(struct tls_context_parts *parts, const struct tls_file *file,
                                 const char *key, const char *path,
                                 bool (*add)(struct tls_context_parts *, X509 *, unsigned),
                                 struct error_text *why)
{
    BIO *pem = BIO_new_mem_buf(file->file.bytes, (int)file->file.len);
    X509 *certificate;
    unsigned count = 0;
    bool asked = false;
    bool good = pem != NULL;

    while (good && (certificate = tls_next_certificate(pem, &asked))) {
        good = add(parts, certificate, count++);
        if (!good) {
            X509_free(certificate);
        }
    }
    (void)BIO_free(pem);
    if (!good) {
        return tls_complain_openssl(why, key, path);
    }
    // This error means the end of the file.
    if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
        return tls_complain(why, key, path,
                            asked ? "holds an encrypted certificate"
                                  : "holds a damaged certificate");
    }
    return count > 0 || tls_complain(why, key, path, "holds no certificate in PEM");
}

// Refuses a key that other users can read or write.
static bool tls_use_key(struct tls_context_parts *parts, struct error_text *why)
{
    bool apart = parts->settings->key[0] != '\0';
    const struct tls_file *file = apart ? &parts->key : &parts->certificate;
    const char *name = apart ? "key" : "certificate";
    const char *path = apart ? parts->settings->key : parts->settings->certificate;
    BIO *pem = BIO_new_mem_buf(file->file.bytes, (int)file->file.len);
    bool asked = false;
    EVP_PKEY *key;
    bool good;

    ERR_clear_error();
    key = pem ? PEM_read_bio_PrivateKey(pem, NULL, tls_no_password, &asked) : NULL;
    (void)BIO_free(pem);
    if (!key) {
        return tls_complain(why, name, path,
                            asked ? "the private key is encrypted"
                                  : "holds no private key in PEM, or a damaged one");
    }
    if (file->is_public) {
        good = tls_complain(why, name, path,
                            "holds a private key and is open to everybody; `chmod o=` helps");
    } else {
        good = (SSL_CTX_use_PrivateKey(parts->context, key) == 1 &&
                SSL_CTX_check_private_key(parts->context) == 1) ||
               tls_complain_openssl(why, name, path);
    }
    EVP_PKEY_free(key);
    return good;
}

static bool tls_use_authorities(struct tls_context_parts *parts, struct error_text *why)
{
    static const int modes[] = {
        [TLS_CLIENT_CERTS_NONE] = SSL_VERIFY_NONE,
        [TLS_CLIENT_CERTS_OPTIONAL] = SSL_VERIFY_PEER,
        [TLS_CLIENT_CERTS_REQUIRED] = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
    };
    const struct tls_settings *settings = parts->settings;

    if (settings->client_ca[0] == '\0' && settings->client_certs != TLS_CLIENT_CERTS_NONE) {
        return tls_complain(why, "client_certs", "", "needs client_ca");
    }
    SSL_CTX_set_verify(parts->context, modes[settings->client_certs], NULL);
    SSL_CTX_set_verify_depth(parts->context, CHAIN_DEPTH_MAX);
    SSL_CTX_set_max_cert_list(parts->context, TLS_CHAIN_MAX);
    return settings->client_ca[0] == '\0' ||
           tls_add_certificates(parts, &parts->client_ca, "client_ca", settings->client_ca,
                                tls_add_authority, why);
}

static bool tls_use_versions(struct tls_context_parts *parts, struct error_text *why)
{
    const struct tls_settings *settings = parts->settings;
    int least = settings->min_version == TLS_MIN_VERSION_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;

    ERR_clear_error();
    if (SSL_CTX_set_min_proto_version(parts->context, least) != 1) {
        return tls_complain_openssl(why, "min_version", "");
    }
    return settings->ciphers[0] == '\0' ||
           SSL_CTX_set_cipher_list(parts->context, settings->ciphers) == 1 ||
           tls_complain_openssl(why, "ciphers", "");
}

// Binds sessions to the rules for clients. A ticket holds these, and a session that began under
// other rules is not resumed, because the current ones might refuse its client.
static bool tls_use_session_rules(struct tls_context_parts *parts, struct error_text *why)
{
    const struct tls_settings *settings = parts->settings;
    const int numbers[] = {settings->client_certs, settings->min_version};
    unsigned char rules[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    bool good =
        digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1 &&
        EVP_DigestUpdate(digest, numbers, sizeof numbers) == 1 &&
        EVP_DigestUpdate(digest, settings->ciphers, strlen(settings->ciphers) + 1) == 1 &&
        EVP_DigestUpdate(digest, parts->client_ca.file.bytes, parts->client_ca.file.len) == 1 &&
        EVP_DigestFinal_ex(digest, rules, &len) == 1 &&
        SSL_CTX_set_session_id_context(parts->context, rules, len) == 1;

    EVP_MD_CTX_free(digest);
    return good || tls_complain_openssl(why, "certificate", settings->certificate);
}

static bool tls_read_files(struct tls_context_parts *parts, struct error_text *why)
{
    const struct tls_settings *settings = parts->settings;
    bool apart = settings->key[0] != '\0';

    if (settings->certificate[0] == '\0') {
        return tls_complain(why, "certificate", "", "no file is named");
    }
    return tls_file_read(&parts->certificate, "certificate", settings->certificate, why) &&
           (!apart || tls_file_read(&parts->key, "key", settings->key, why)) &&
           (settings->client_ca[0] == '\0' ||
            tls_file_read(&parts->client_ca, "client_ca", settings->client_ca, why));
}

// Clients keep their sessions, in tickets, so that connections share no locked state. A client
// needs one ticket for its next connection, on which it gets another. We send the certificate chain
// of the file; without SSL_MODE_NO_AUTO_CHAIN, OpenSSL would search the clients' authorities for a
// chain in each handshake.
static bool tls_begin_context(struct tls_context_parts *parts, struct error_text *why)
{
    SSL_CTX *context;

    ERR_clear_error();
    context = SSL_CTX_new(TLS_server_method());
    if (!context) {
        return tls_complain_openssl(why, "certificate", parts->settings->certificate);
    }
    parts->context = context;
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

// Makes the context of the settings. NULL with the reason in `why`.
static SSL_CTX *tls_context_new(const struct tls_settings *settings, struct error_text *why)
{
    struct tls_context_parts parts = {.settings = settings};
    // Versions and ciphers come before the certificate, because the security level that `ciphers`
    // may set also applies to it.
    bool good = tls_read_files(&parts, why) && tls_begin_context(&parts, why) &&
                tls_use_versions(&parts, why) &&
                tls_add_certificates(&parts, &parts.certificate, "certificate",
                                     settings->certificate, tls_add_to_chain, why) &&
                tls_use_key(&parts, why) && tls_use_authorities(&parts, why) &&
                tls_use_session_rules(&parts, why);

    small_file_free(&parts.certificate.file);
    small_file_free(&parts.key.file);
    small_file_free(&parts.client_ca.file);
    if (!good) {
        SSL_CTX_free(parts.context);
        return NULL;
    }
    return parts.context;
}

// The most bytes of keys that OpenSSL encrypts tickets with.
enum { TICKET_KEYS_MAX = 256 };

struct tls {
    pthread_mutex_t lock; // of `context`
    SSL_CTX *context;     // for new connections; each has a reference of its own
    SSL_CTX *fresh;       // prepared, not yet adopted; NULL: none
};

bool tls_check(const struct tls_settings *settings, struct error_text *why)
{
    SSL_CTX *context = tls_context_new(settings, why);

    SSL_CTX_free(context);
    ERR_clear_error();
    return context != NULL;
}

struct tls *tls_new(const struct tls_settings *settings, struct error_text *why)
{
    struct tls *tls = calloc(1, sizeof *tls);

    if (!tls) {
        error_set(why, "out of memory");
        return NULL;
    }
    tls->context = tls_context_new(settings, why);
    ERR_clear_error();
    if (!tls->context || pthread_mutex_init(&tls->lock, NULL) != 0) {
        SSL_CTX_free(tls->context);
        free(tls);
        return NULL;
    }
    return tls;
}

// Clients' tickets stay valid if the rules are the same (tls_use_session_rules), so that a renewed
// certificate does not make all clients do a full handshake.
static bool tls_keep_ticket_keys(SSL_CTX *from, SSL_CTX *to)
{
    unsigned char keys[TICKET_KEYS_MAX];
    long len = SSL_CTX_get_tlsext_ticket_keys(from, NULL, 0);
    bool kept = len > 0 && len <= TICKET_KEYS_MAX &&
                SSL_CTX_get_tlsext_ticket_keys(from, keys, len) == 1 &&
                SSL_CTX_set_tlsext_ticket_keys(to, keys, len) == 1;

    OPENSSL_cleanse(keys, sizeof keys);
    return kept;
}

bool tls_prepare(struct tls *tls, const struct tls_settings *settings, struct error_text *why)
{
    SSL_CTX *fresh = tls_context_new(settings, why);

    if (fresh && !tls_keep_ticket_keys(tls->context, fresh)) {
        error_set(why, "tls.certificate %s: %s", settings->certificate, tls_openssl_reason());
        SSL_CTX_free(fresh);
        fresh = NULL;
    }
    ERR_clear_error();
    tls_discard(tls);
    tls->fresh = fresh;
    return fresh != NULL;
}

void tls_discard(struct tls *tls)
{
    SSL_CTX_free(tls->fresh);
    tls->fresh = NULL;
}

void tls_adopt(struct tls *tls)
{
    SSL_CTX *old = tls->context;

    if (!tls->fresh) {
        return;
    }
    (void)pthread_mutex_lock(&tls->lock);
    tls->context = tls->fresh;
    (void)pthread_mutex_unlock(&tls->lock);
    tls->fresh = NULL;
    SSL_CTX_free(old);
}

void tls_free(struct tls *tls)
{
    if (tls) {
        tls_discard(tls);
        SSL_CTX_free(tls->context);
        (void)pthread_mutex_destroy(&tls->lock);
        free(tls);
    }
}

SSL *tls_make_ssl(struct tls *tls)
{
    SSL_CTX *context;
    SSL *ssl;

    (void)pthread_mutex_lock(&tls->lock);
    context = tls->context;
    (void)SSL_CTX_up_ref(context);
    (void)pthread_mutex_unlock(&tls->lock);
    ssl = SSL_new(context);
    SSL_CTX_free(context);
    return ssl;
}
