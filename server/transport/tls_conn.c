/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The headers of a record (RFC 8446, 5.1) and of a message (4).
enum { RECORD_HANDSHAKE = 22, RECORD_HEADER = 5, MESSAGE_HEADER = 4, CLIENT_HELLO = 1 };

// Whether a command or a request can begin with these bytes: text, or a packet of Gearman, whose
// first bytes are 0 and R.
static bool tls_hello_is_plain(const unsigned char *bytes, size_t len)
{
    unsigned char first = bytes[0];

    if (first == 0) {
        return len > 1 && bytes[1] == 'R';
    }
    return (first >= ' ' && first < 0x7f) || first == '\r' || first == '\n' || first == '\t';
}

// The first record must hold the whole header of the message, because otherwise OpenSSL would
// allocate the message before its length is checked. All clients do so.
static bool tls_hello_is_good(const unsigned char *bytes)
{
    size_t record_len = (size_t)bytes[3] << 8 | bytes[4];
    size_t hello_len = (size_t)bytes[6] << 16 | (size_t)bytes[7] << 8 | bytes[8];

    return record_len >= MESSAGE_HEADER && bytes[5] == CLIENT_HELLO && hello_len <= TLS_HELLO_MAX;
}

// The kind of the first `len` bytes from a peer.
static enum tls_hello tls_hello_judge(const unsigned char *bytes, size_t len)
{
    _Static_assert((int)RECORD_HEADER + (int)MESSAGE_HEADER == (int)TLS_HELLO_LEN, "both headers");

    if (len == 0 || (len == 1 && bytes[0] == 0)) {
        return TLS_HELLO_AWAITED;
    }
    if (bytes[0] != RECORD_HANDSHAKE) {
        return tls_hello_is_plain(bytes, len) ? TLS_HELLO_PLAIN : TLS_HELLO_OTHER;
    }
    if (len > 1 && bytes[1] != 3) {
        return TLS_HELLO_OTHER;
    }
    if (len < TLS_HELLO_LEN) {
        return TLS_HELLO_AWAITED;
    }
    return tls_hello_is_good(bytes) ? TLS_HELLO_GOOD : TLS_HELLO_OTHER;
}

// OpenSSL reads and writes the descriptor itself, so that the kernel can encrypt if it supports
// that. A callback of the BIO observes the reads: whether the socket is drained, and the peer's
// first bytes.

// Tells OpenSSL to retry later, instead of a read from a drained socket. Such a read could still
// find the end of the connection, which may have come together with the bytes that were read. A
// caller that received bytes receives again and finds it then (server/conn/conn_transfer.c). A
// caller that received none would not, so its read is done.
static long tls_bio_retry(BIO *bio)
{
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
    return -1;
}

// Keeps the first bytes and determines their kind, before OpenSSL gets them.
static void tls_bio_note_first(struct tls_conn *conn, const unsigned char *bytes, size_t len)
{
    size_t room = TLS_HELLO_LEN - conn->first_len;
    size_t some = len < room ? len : room;

    memcpy(conn->first + conn->first_len, bytes, some);
    conn->first_len = (uint8_t)(conn->first_len + some);
    conn->hello = (uint8_t)tls_hello_judge(conn->first, conn->first_len);
}

static long tls_bio_after_read(struct tls_conn *conn, BIO *bio, const char *bytes, size_t asked,
                               const size_t *got, long result)
{
    if (result <= 0) {
        conn->drained = BIO_should_retry(bio);
        // If OpenSSL saw the end now, it could not send any more. The requests before the end must
        // be answered first.
        return conn->got_bytes && !conn->drained ? tls_bio_retry(bio) : result;
    }
    conn->taken += *got;
    conn->drained = conn->done && *got < asked;
    if (conn->hello == TLS_HELLO_AWAITED) {
        tls_bio_note_first(conn, (const unsigned char *)bytes, *got);
    }
    if (conn->hello == TLS_HELLO_PLAIN || conn->hello == TLS_HELLO_OTHER) {
        BIO_clear_retry_flags(bio);
        errno = EPROTO;
        return -1;
    }
    return result;
}

// The command by which OpenSSL 3 asks a BIO to have the kernel encrypt or decrypt. Its header names
// the number only in a comment.
enum { SET_KTLS = 72 };

static long tls_bio_on_transfer(BIO *bio, int operation, const char *bytes, size_t len, int number,
                                long value, int result, size_t *done)
{
    struct tls_conn *conn = (void *)BIO_get_callback_arg(bio);

    // The kernel may encrypt, but not decrypt: each system call would return one record, while our
    // reads take all that have arrived.
    if (operation == BIO_CB_CTRL && number == SET_KTLS && !value) {
        return 0;
    }
    if (operation == BIO_CB_READ) {
        return conn->drained && conn->got_bytes ? tls_bio_retry(bio) : result;
    }
    if (operation == (BIO_CB_READ | BIO_CB_RETURN)) {
        return tls_bio_after_read(conn, bio, bytes, len, done, result);
    }
    return result;
}

// Sets the socket as the BIO of `conn->ssl`. False without memory.
static bool tls_bio_begin(struct tls_conn *conn, int fd)
{
    BIO *bio = BIO_new_socket(fd, BIO_NOCLOSE);

    if (!bio) {
        return false;
    }
    BIO_set_callback_ex(bio, tls_bio_on_transfer);
    BIO_set_callback_arg(bio, (char *)conn);
    SSL_set_bio(conn->ssl, bio, bio);
    return true;
}

// Must be called before each operation, because OpenSSL also considers earlier errors in the queue.
static void tls_forget_errors(void)
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

// Whether the peer has begun with a head of the PROXY protocol.
static bool tls_hello_is_proxy(const struct tls_conn *conn)
{
    static const struct slice starts[] = {{"PROXY ", 6}, {"\r\n\r\n\0", 5}};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (conn->first_len >= starts[i].len &&
            memcmp(conn->first, starts[i].ptr, starts[i].len) == 0) {
            return true;
        }
    }
    return false;
}

// Sets the reason of a failed handshake, by OpenSSL's first error. A peer that closes without
// having sent a byte, such as a port scan or health check, is not reported.
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
        error_set(why, tls_hello_is_proxy(conn)
                           ? "the PROXY protocol at an address without proxy: in front of tls:"
                           : "plain text on a TLS port");
    } else if (conn->hello == TLS_HELLO_OTHER) {
        error_set(why, "not a TLS hello");
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

// OpenSSL has verified the certificate before this.
static enum handshake tls_handshake_done(struct tls_conn *conn, struct error_text *why)
{
    const X509 *certificate = SSL_get0_peer_certificate(conn->ssl);

    conn->done = true;
    // The kernel has our keys now, or never will. On a key update, OpenSSL 3.5 would ask it for the
    // peer's again, and with its refusal drop the bytes that were read ahead.
    (void)SSL_clear_options(conn->ssl, SSL_OP_ENABLE_KTLS);
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
    tls_forget_errors();
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

// Sends close_notify. False if the socket does not take it now. A lost connection sends none, so
// that its peer sees that it was cut.
static bool tls_tell_end(struct tls_conn *conn)
{
    int result;

    if (conn->told || conn->error) {
        return true;
    }
    tls_forget_errors();
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
