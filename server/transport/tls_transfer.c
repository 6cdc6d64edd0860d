/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

const char *tls_openssl_reason(void)
{
    unsigned long code = ERR_peek_error();
    const char *text =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);

    return text ? text : "OpenSSL does not say why";
}

int tls_conn_error(struct tls_conn *conn, int failure)
{
    int error = errno;

    if (conn->error == 0) {
        bool gone = failure == SSL_ERROR_SYSCALL ||
                    ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;

        // An end without close_notify may come from anyone between the peer and us.
        conn->error = !gone ? EPROTO : error ? error : ECONNRESET;
    }
    return conn->error;
}

// Chooses the first of our protocols that the client offers. A client that offers none of them gets
// an alert.
static int tls_choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_len,
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

// Ignores a ticket if its client's certificate has expired.
static SSL_TICKET_RETURN tls_judge_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *key,
                                          size_t key_len, SSL_TICKET_STATUS status, void *context)
{
    const X509 *certificate = session ? SSL_SESSION_get0_peer(session) : NULL;

    (void)ssl;
    (void)key;
    (void)key_len;
    (void)context;
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) {
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
    if (certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0) {
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

// Makes OpenSSL stop reading, and tls_receive() end the connection.
static void tls_conn_stop(struct tls_conn *conn)
{
    conn->stopped = true;
    SSL_set_shutdown(conn->ssl, SSL_RECEIVED_SHUTDOWN);
}

// OpenSSL refuses each renegotiation with a warning and continues, without a limit.
static void tls_on_state(const SSL *ssl, int where, int value)
{
    if (where == SSL_CB_WRITE_ALERT && (value & 0xff) == SSL_AD_NO_RENEGOTIATION) {
        tls_conn_stop(SSL_get_app_data(ssl));
    }
}

// Whether a KeyUpdate (RFC 8446, 4.6.3) requests new keys of us, and the kernel has our keys.
// OpenSSL would change its own keys and not the kernel's, and the peer could read no more.
static bool tls_wants_kernel_keys(const unsigned char *message, size_t len, const SSL *ssl)
{
    return message[len - 1] == SSL_KEY_UPDATE_REQUESTED && BIO_get_ktls_send(SSL_get_wbio(ssl));
}

// OpenSSL makes new keys on each request without a limit, too, and that costs more than any other
// record.
static void tls_on_message(int writing, int version, int type, const void *bytes, size_t len,
                           SSL *ssl, void *context)
{
    const unsigned char *message = bytes;

    (void)version;
    (void)context;
    if (!writing && type == SSL3_RT_HANDSHAKE && len > 0 && message[0] == SSL3_MT_KEY_UPDATE) {
        struct tls_conn *conn = SSL_get_app_data(ssl);

        if (++conn->key_updates > TLS_KEY_UPDATES_MAX || tls_wants_kernel_keys(message, len, ssl)) {
            tls_conn_stop(conn);
        }
    }
}

void tls_callbacks_set(SSL_CTX *context)
{
    SSL_CTX_set_alpn_select_cb(context, tls_choose_protocol, NULL);
    (void)SSL_CTX_set_session_ticket_cb(context, NULL, tls_judge_ticket, NULL);
    SSL_CTX_set_info_callback(context, tls_on_state);
    SSL_CTX_set_msg_callback(context, tls_on_message);
}

// The most bytes in a record (RFC 8446, 5.1).
enum { RECORD_MAX = 16384 };
// The most reads from OpenSSL in one call, because a peer may send records of one byte.
enum { PIECES_MAX = 128 };

// The position of a transfer in the parts.
struct cursor {
    const struct iovec *part;
    size_t offset; // in that part
    size_t done;   // in all
    size_t len;    // of all
};

static size_t cursor_room(const struct cursor *cursor)
{
    return cursor->part->iov_len - cursor->offset;
}

static char *cursor_at(const struct cursor *cursor)
{
    return (char *)cursor->part->iov_base + cursor->offset;
}

static void cursor_move(struct cursor *cursor, size_t len)
{
    cursor->done += len;
    cursor->offset += len;
    while (cursor->offset >= cursor->part->iov_len && cursor->done < cursor->len) {
        cursor->offset -= cursor->part->iov_len;
        cursor->part++;
    }
}

static struct cursor cursor_begin(const struct iovec *parts, size_t len)
{
    struct cursor cursor = {.part = parts, .len = len};

    cursor_move(&cursor, 0);
    return cursor;
}

// The socket may have bytes again.
static void tls_operation_begin(struct tls_conn *conn)
{
    conn->drained = false;
    conn->got_bytes = false;
    conn->key_updates = 0;
    ERR_clear_error();
}

static struct received tls_receive_failed(int error)
{
    return (struct received){.result = TRANSFER_FAILED, .error = error, .drained = true};
}

// The result if nothing was received.
static struct received tls_receive_nothing(struct tls_conn *conn, int failure)
{
    if (failure == SSL_ERROR_WANT_READ) {
        return (struct received){.result = TRANSFER_NONE, .drained = conn->drained};
    }
    if (failure == SSL_ERROR_WANT_WRITE) {
        return (struct received){.result = TRANSFER_NONE, .drained = true, .needs_room = true};
    }
    if (failure == SSL_ERROR_ZERO_RETURN) {
        return (struct received){.result = TRANSFER_END, .drained = true};
    }
    return tls_receive_failed(tls_conn_error(conn, failure));
}

// Whether the caller must wait for an event: the socket is drained, and OpenSSL has no more bytes.
static bool tls_is_drained(const struct tls_conn *conn)
{
    return conn->drained && !SSL_has_pending(conn->ssl);
}

static struct received tls_receive_parts(struct tls_conn *conn, const struct iovec *parts,
                                         size_t len)
{
    struct cursor cursor = cursor_begin(parts, len);
    int failure = SSL_ERROR_NONE;

    if (conn->error) {
        return tls_receive_failed(conn->error);
    }
    tls_operation_begin(conn);
    for (int i = 0; i < PIECES_MAX && cursor.done < len && !(i && tls_is_drained(conn)); i++) {
        size_t got;

        errno = 0;
        if (SSL_read_ex(conn->ssl, cursor_at(&cursor), cursor_room(&cursor), &got) != 1) {
            failure = SSL_get_error(conn->ssl, 0);
            break;
        }
        cursor_move(&cursor, got);
        conn->got_bytes = true;
    }
    if (conn->stopped) {
        return tls_receive_failed(conn->error = EPROTO);
    }
    if (cursor.done == 0) {
        return tls_receive_nothing(conn, failure);
    }
    // The next call reports a failure.
    return (struct received){.result = TRANSFER_BYTES,
                             .len = cursor.done,
                             .drained = failure == SSL_ERROR_WANT_READ
                                            ? conn->drained
                                            : !failure && tls_is_drained(conn)};
}

struct received tls_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                            size_t len)
{
    struct tls_conn *conn = tls_conn_of(own);
    struct received received = tls_receive_parts(conn, parts, len);

    (void)fd;
    (void)count;
    tls_recount(conn, TLS_CONN_COUNTED + (SSL_has_pending(conn->ssl) ? TLS_RECORD_COUNTED : 0));
    return received;
}

// The start of the message: the bytes of it already sent, and the next ones.
static struct slice tls_message_start(const struct tls_conn *conn, struct cursor from,
                                      char copy[FRONTEND_MESSAGE_START])
{
    size_t len = conn->message_start_len;

    memcpy(copy, conn->message_start, len);
    while (len < FRONTEND_MESSAGE_START && from.done < from.len) {
        copy[len++] = *cursor_at(&from);
        cursor_move(&from, 1);
    }
    return slice_of(copy, len);
}

// Returns how many of the next bytes belong to the current message, or to the next one if that is
// complete. The length of a message does not change until it was sent, because OpenSSL needs the
// same bytes again if a record could not be sent.
static size_t tls_message_part(struct tls_conn *conn, const struct cursor *from)
{
    size_t left = from->len - from->done;
    char copy[FRONTEND_MESSAGE_START];

    if (!conn->message_len) {
        return left;
    }
    if (conn->message_left == 0 && conn->message_start_len == 0) {
        conn->message_left = conn->message_len(slice_of(cursor_at(from), cursor_room(from)));
    }
    if (conn->message_left == 0) {
        conn->message_left = conn->message_len(tls_message_start(conn, *from, copy));
        if (conn->message_left > 0) {
            conn->message_left -= conn->message_start_len;
            conn->message_start_len = 0;
        }
    }
    return conn->message_left > 0 && conn->message_left < left ? conn->message_left : left;
}

// Notes that `len` bytes at the cursor were sent.
static void tls_message_sent(struct tls_conn *conn, struct cursor from, size_t len)
{
    if (conn->message_left > 0) {
        conn->message_left -= len;
        return;
    }
    while (conn->message_len && len-- > 0) {
        conn->message_start[conn->message_start_len++] = *cursor_at(&from);
        cursor_move(&from, 1);
    }
}

// Returns the bytes of the next record, at most `most`: in place if they are in one part, otherwise
// copied together, so that many small replies become one record.
static const char *tls_next_record(struct cursor from, size_t most, char copy[RECORD_MAX],
                                   size_t *len)
{
    most = most < RECORD_MAX ? most : RECORD_MAX;

    *len = most;
    if (cursor_room(&from) >= most) {
        return cursor_at(&from);
    }
    for (size_t copied = 0; copied < most;) {
        size_t some = cursor_room(&from) < most - copied ? cursor_room(&from) : most - copied;

        memcpy(copy + copied, cursor_at(&from), some);
        copied += some;
        cursor_move(&from, some);
    }
    return copy;
}

// Sends one record. If it is not sent as a whole, OpenSSL keeps the encrypted rest, and must be
// given the same bytes again, and perhaps more after them. Returns OpenSSL's error.
static int tls_send_record(struct tls_conn *conn, struct cursor *cursor)
{
    char copy[RECORD_MAX];
    size_t len;
    size_t sent;
    const char *bytes = tls_next_record(*cursor, tls_message_part(conn, cursor), copy, &len);

    errno = 0;
    if (SSL_write_ex(conn->ssl, bytes, len, &sent) != 1) {
        return SSL_get_error(conn->ssl, 0);
    }
    tls_message_sent(conn, *cursor, sent);
    cursor_move(cursor, sent);
    return SSL_ERROR_NONE;
}

// Corks the socket while several records are written, so that they leave in full segments. Unix
// sockets do not support this, nor need it. Keeps errno.
static void tls_set_cork(int fd, int on)
{
    int error = errno;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
    errno = error;
}

static struct sent tls_send_nothing(struct tls_conn *conn, int failure)
{
    if (failure == SSL_ERROR_WANT_WRITE) {
        return (struct sent){.result = TRANSFER_NONE, .full = true};
    }
    if (failure == SSL_ERROR_WANT_READ) {
        return (struct sent){.result = TRANSFER_NONE, .needs_input = true};
    }
    return (struct sent){.result = TRANSFER_FAILED, .error = tls_conn_error(conn, failure)};
}

struct sent tls_send(int fd, void *own, const struct iovec *parts, unsigned count, size_t len)
{
    struct tls_conn *conn = tls_conn_of(own);
    struct cursor cursor = cursor_begin(parts, len);
    bool holds = len > RECORD_MAX || conn->message_len;
    int failure = SSL_ERROR_NONE;

    if (conn->error) {
        return (struct sent){.result = TRANSFER_FAILED, .error = conn->error};
    }
    // If the kernel encrypts, it also makes the records, unless each message has a record of its
    // own.
    if (!conn->message_len && BIO_get_ktls_send(SSL_get_wbio(conn->ssl))) {
        return transport_plain.send(fd, NULL, parts, count, len);
    }
    tls_operation_begin(conn);
    if (holds) {
        tls_set_cork(fd, 1);
    }
    while (cursor.done < len && failure == SSL_ERROR_NONE) {
        failure = tls_send_record(conn, &cursor);
    }
    if (holds) {
        tls_set_cork(fd, 0);
    }
    tls_recount(conn, TLS_CONN_COUNTED + (failure != SSL_ERROR_NONE ? TLS_RECORD_COUNTED : 0));
    if (cursor.done == 0) {
        return tls_send_nothing(conn, failure);
    }
    return (struct sent){
        .result = TRANSFER_BYTES, .len = cursor.done, .full = failure == SSL_ERROR_WANT_WRITE};
}
