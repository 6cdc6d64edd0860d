/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>

// The keys that OpenSSL encrypts tickets with.
enum { TICKET_KEYS_MAX = 256 };

struct tls {
    pthread_mutex_t lock; // of `context`
    SSL_CTX *context;     // for connections that begin now; each of them has a reference of its own
    SSL_CTX *fresh;       // kept aside by tls_prepare(); NULL: none is
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

// The clients' tickets go on to be good, as far as the rules are the same (use_session_rules): a
// certificate that was renewed costs nobody a whole handshake.
static bool keep_ticket_keys(SSL_CTX *from, SSL_CTX *to)
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

    if (fresh && !keep_ticket_keys(tls->context, fresh)) {
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
