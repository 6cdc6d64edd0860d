/* SPDX-License-Identifier: MIT */
// What OpenSSL asks, or tells, while a connection lives.
#include "server/transport/tls_private.h"

#include <openssl/bio.h>
#include <openssl/x509.h>
#include <string.h>

// The first of ours that the client offers, too. One that offers only what we do not speak is told
// so by an alert.
static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_len,
                           const unsigned char *offered, unsigned offered_len, void *context)
{
    const struct tls_conn *conn = SSL_get_app_data(ssl);
    unsigned char *found;

    (void)context;
    if (!conn->alpn) {
        return SSL_TLSEXT_ERR_NOACK;
    }
    if (SSL_select_next_proto(&found, chosen_len, (const unsigned char *)conn->alpn,
                              (unsigned)strlen(conn->alpn), offered,
                              offered_len) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

// A ticket vouches for its client's certificate: not for longer than that itself.
static bool has_expired(SSL_SESSION *session)
{
    const X509 *certificate = session ? SSL_SESSION_get0_peer(session) : NULL;

    return certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0;
}

static SSL_TICKET_RETURN judge_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *key,
                                      size_t key_len, SSL_TICKET_STATUS status, void *context)
{
    (void)ssl;
    (void)key;
    (void)key_len;
    (void)context;
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) {
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
    if (has_expired(session)) {
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

// OpenSSL reads no more, and tls_receive() finds the connection lost.
static void stop(struct tls_conn *conn)
{
    conn->stopped = true;
    SSL_set_shutdown(conn->ssl, SSL_RECEIVED_SHUTDOWN);
}

// OpenSSL refuses another handshake by a warning and goes on, as often as it is asked.
static void on_state(const SSL *ssl, int where, int value)
{
    if (where == SSL_CB_WRITE_ALERT && (value & 0xff) == SSL_AD_NO_RENEGOTIATION) {
        stop(SSL_get_app_data(ssl));
    }
}

// Whether a KeyUpdate (RFC 8446, 4.6.3) wants our keys to change, too, and the kernel has them:
// OpenSSL changes its own and leaves those, and the peer could read nothing more.
static bool wants_keys_of_the_kernel(const unsigned char *message, size_t len, const SSL *ssl)
{
    return message[len - 1] == SSL_KEY_UPDATE_REQUESTED && BIO_get_ktls_send(SSL_get_wbio(ssl));
}

// OpenSSL makes new keys as often as it is asked, too, and that costs more than any other record.
static void on_message(int writing, int version, int type, const void *bytes, size_t len, SSL *ssl,
                       void *context)
{
    const unsigned char *message = bytes;

    (void)version;
    (void)context;
    if (!writing && type == SSL3_RT_HANDSHAKE && len > 0 && message[0] == SSL3_MT_KEY_UPDATE) {
        struct tls_conn *conn = SSL_get_app_data(ssl);

        if (++conn->key_updates > TLS_KEY_UPDATES_MAX ||
            wants_keys_of_the_kernel(message, len, ssl)) {
            stop(conn);
        }
    }
}

void tls_callbacks_set(SSL_CTX *context)
{
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    (void)SSL_CTX_set_session_ticket_cb(context, NULL, judge_ticket, NULL);
    SSL_CTX_set_info_callback(context, on_state);
    SSL_CTX_set_msg_callback(context, on_message);
}
