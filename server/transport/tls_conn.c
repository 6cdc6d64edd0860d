/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Before each operation: OpenSSL judges what has failed by what is left of earlier errors, too.
static void forget_errors(void)
{
    ERR_clear_error();
    errno = 0;
}

static bool tls_begin(int fd, void *own, void *shared)
{
    const struct tls_service *service = shared;
    struct tls_conn *conn = calloc(1, sizeof *conn);

    if (!conn) {
        return false;
    }
    memcpy(own, &conn, sizeof(struct tls_conn *));
    tls_recount(conn, TLS_HANDSHAKE_COUNTED);
    conn->alpn = service->alpn;
    conn->message_len = service->message_len;
    conn->ssl = tls_make_ssl(service->tls);
    if (!conn->ssl || !tls_bio_begin(conn, fd)) {
        return false;
    }
    (void)SSL_set_app_data(conn->ssl, conn);
    SSL_set_accept_state(conn->ssl);
    return true;
}

// Why the handshake has failed, by what OpenSSL noted first. Who only looks whether somebody
// listens has failed at nothing.
static void tls_explain(const struct tls_conn *conn, int failure, int error, struct error_text *why)
{
    unsigned long code = ERR_peek_error();
    long verified = SSL_get_verify_result(conn->ssl);
    bool left =
        failure == SSL_ERROR_SYSCALL || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;

    if (left && conn->first_len == 0) {
        return;
    }
    if (conn->hello == TLS_HELLO_PLAIN) {
        error_set(why, "plain text on a TLS port");
    } else if (conn->hello == TLS_HELLO_OTHER) {
        error_set(why, "no TLS hello");
    } else if (ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING ||
               (failure == SSL_ERROR_SYSCALL && error == 0)) {
        error_set(why, "closed by the peer");
    } else if (failure == SSL_ERROR_SYSCALL) {
        error_set(why, "%s", strerror(error));
    } else if (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED && verified != X509_V_OK) {
        error_set(why, "certificate verify failed: %s", X509_verify_cert_error_string(verified));
    } else {
        error_set(why, "%s", tls_openssl_reason());
    }
}

// A certificate that does not stand up to the authorities ends the handshake earlier than here.
static enum handshake tls_handshake_done(struct tls_conn *conn, struct error_text *why)
{
    const X509 *certificate = SSL_get0_peer_certificate(conn->ssl);

    conn->done = true;
    tls_recount(conn, TLS_CONN_COUNTED);
    if (certificate && !tls_names_take(&conn->identity, certificate, why)) {
        conn->error = EPROTO;
        return HANDSHAKE_FAILED;
    }
    return HANDSHAKE_DONE;
}

static enum handshake tls_handshake(int fd, void *own, struct error_text *why)
{
    struct tls_conn *conn = tls_conn_of(own);
    int result;
    int failure;

    (void)fd;
    forget_errors();
    conn->drained = false;
    result = SSL_do_handshake(conn->ssl);
    if (result == 1) {
        return tls_handshake_done(conn, why);
    }
    failure = SSL_get_error(conn->ssl, result);
    if (failure == SSL_ERROR_WANT_WRITE) {
        return HANDSHAKE_NEEDS_ROOM;
    }
    if (failure == SSL_ERROR_WANT_READ && conn->taken < TLS_HANDSHAKE_MAX) {
        return HANDSHAKE_NEEDS_INPUT;
    }
    if (failure == SSL_ERROR_WANT_READ) {
        conn->error = EPROTO;
        error_set(why, "the handshake is too long");
        return HANDSHAKE_FAILED;
    }
    tls_explain(conn, failure, errno, why);
    (void)tls_conn_error(conn, failure);
    return HANDSHAKE_FAILED;
}

static const struct peer_identity *tls_identity(const void *own)
{
    const struct tls_conn *conn = tls_conn_of(own);

    return conn->identity.subject ? &conn->identity : NULL;
}

static const char *tls_protection(const void *own)
{
    return SSL_get_version(tls_conn_of(own)->ssl);
}

static int tls_socket_error(int fd, void *own)
{
    struct tls_conn *conn = tls_conn_of(own);

    return conn->error ? conn->error : transport_plain.error(fd, NULL);
}

static void tls_peer(int fd, const void *own, char *text, size_t room)
{
    (void)own;
    transport_plain.peer(fd, NULL, text, room);
}

// Sends close_notify. False where the socket does not take it now. A connection that is lost has
// nothing to say: its peer is to see that it was cut short.
static bool tls_tell_end(struct tls_conn *conn)
{
    int result;

    if (conn->told || conn->error) {
        return true;
    }
    forget_errors();
    result = SSL_shutdown(conn->ssl);
    conn->told = result >= 0 || SSL_get_error(conn->ssl, result) != SSL_ERROR_WANT_WRITE;
    return conn->told;
}

static bool tls_shut(int fd, void *own)
{
    return tls_tell_end(tls_conn_of(own)) && transport_plain.shut(fd, NULL);
}

static void tls_close(int fd, void *own)
{
    struct tls_conn *conn = tls_conn_of(own);

    if (conn && conn->done) {
        (void)tls_tell_end(conn);
    }
    if (conn) {
        SSL_free(conn->ssl);
        tls_names_free(&conn->identity);
        tls_recount(conn, 0);
        free(conn);
    }
    (void)close(fd);
}

const struct transport transport_tls = {
    .state_size = sizeof(struct tls_conn *),
    .begin = tls_begin,
    .handshake = tls_handshake,
    .identity = tls_identity,
    .protection = tls_protection,
    .receive = tls_receive,
    .send = tls_send,
    .error = tls_socket_error,
    .peer = tls_peer,
    .shut = tls_shut,
    .close = tls_close,
};
