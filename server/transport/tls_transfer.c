/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

// The most that one record holds (RFC 8446, 5.1).
enum { RECORD_MAX = 16384 };
// One call takes so many pieces from OpenSSL: a peer may send records of one byte.
enum { PIECES_MAX = 128 };

// Where in the parts a transfer has come to.
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

static struct received receive_failed(int error)
{
    return (struct received){.result = TRANSFER_FAILED, .error = error, .drained = true};
}

// What there is to say where nothing could be received.
static struct received receive_nothing(struct tls_conn *conn, int failure)
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
    return receive_failed(tls_conn_error(conn, failure));
}

// Whether an event says when there is more: the socket was drained, and all that came of it has
// been handed on.
static bool is_empty(const struct tls_conn *conn)
{
    return conn->drained && !SSL_has_pending(conn->ssl);
}

static struct received receive(struct tls_conn *conn, const struct iovec *parts, size_t len)
{
    struct cursor cursor = cursor_begin(parts, len);
    int failure = SSL_ERROR_NONE;

    if (conn->error) {
        return receive_failed(conn->error);
    }
    tls_bio_look_again(conn);
    ERR_clear_error();
    for (int i = 0; i < PIECES_MAX && cursor.done < len && !(i && is_empty(conn)); i++) {
        size_t got;

        errno = 0;
        if (SSL_read_ex(conn->ssl, cursor_at(&cursor), cursor_room(&cursor), &got) != 1) {
            failure = SSL_get_error(conn->ssl, 0);
            break;
        }
        cursor_move(&cursor, got);
        conn->handed_on = true;
    }
    if (conn->stopped) {
        return receive_failed(conn->error = EPROTO);
    }
    if (cursor.done == 0) {
        return receive_nothing(conn, failure);
    }
    // What has failed is said by the next call.
    return (struct received){
        .result = TRANSFER_BYTES,
        .len = cursor.done,
        .drained = failure == SSL_ERROR_WANT_READ ? conn->drained : !failure && is_empty(conn)};
}

struct received tls_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                            size_t len)
{
    struct tls_conn *conn = tls_conn_of(own);
    struct received received = receive(conn, parts, len);

    (void)fd;
    (void)count;
    tls_recount(conn, TLS_CONN_COUNTED + (SSL_has_pending(conn->ssl) ? TLS_RECORD_COUNTED : 0));
    return received;
}

// The next bytes, copied together behind those that left of the same message already.
static struct slice message_start(const struct tls_conn *conn, struct cursor from,
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

// How many of the bytes that are left belong to the message that is under way, or to the next one.
// What is decided about a message stays so until it has left: OpenSSL wants the same bytes again
// where a record could not leave.
static size_t message_part(struct tls_conn *conn, const struct cursor *from)
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
        conn->message_left = conn->message_len(message_start(conn, *from, copy));
        if (conn->message_left > 0) {
            conn->message_left -= conn->message_start_len;
            conn->message_start_len = 0;
        }
    }
    return conn->message_left > 0 && conn->message_left < left ? conn->message_left : left;
}

// So many bytes have left, which the cursor is at.
static void message_note_sent(struct tls_conn *conn, struct cursor from, size_t len)
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

// The next record's bytes, at most `most`: as they are where one part has enough for it or is the
// last, otherwise copied together, so that many small answers are one record.
static const char *next_record(struct cursor from, size_t most, char copy[RECORD_MAX], size_t *len)
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

// One record. Where it does not leave as a whole, OpenSSL keeps what is encrypted already, and is
// to be handed the same bytes again, be it with more behind them. Returns OpenSSL's word for why.
static int send_record(struct tls_conn *conn, struct cursor *cursor)
{
    char copy[RECORD_MAX];
    size_t len;
    size_t sent;
    const char *bytes = next_record(*cursor, message_part(conn, cursor), copy, &len);

    errno = 0;
    if (SSL_write_ex(conn->ssl, bytes, len, &sent) != 1) {
        return SSL_get_error(conn->ssl, 0);
    }
    message_note_sent(conn, *cursor, sent);
    cursor_move(cursor, sent);
    return SSL_ERROR_NONE;
}

// Where the kernel encrypts, bytes are sent as to a plain socket, and it makes the records. Where
// messages have records of their own, each has to be handed over by itself.
static bool kernel_makes_records(const struct tls_conn *conn)
{
    return !conn->message_len && BIO_get_ktls_send(SSL_get_wbio(conn->ssl));
}

// Each record is a write of its own. Held back meanwhile, several of them leave in as few segments
// as they fill. (A unix socket does not know this, nor need it.) What an operation has left in
// errno stays there.
static void hold_back(int fd, int on)
{
    int error = errno;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on);
    errno = error;
}

static struct sent send_nothing(struct tls_conn *conn, int failure)
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
    if (kernel_makes_records(conn)) {
        return transport_plain.send(fd, NULL, parts, count, len);
    }
    tls_bio_look_again(conn);
    ERR_clear_error();
    if (holds) {
        hold_back(fd, 1);
    }
    while (cursor.done < len && failure == SSL_ERROR_NONE) {
        failure = send_record(conn, &cursor);
    }
    if (holds) {
        hold_back(fd, 0);
    }
    tls_recount(conn, TLS_CONN_COUNTED + (failure != SSL_ERROR_NONE ? TLS_RECORD_COUNTED : 0));
    if (cursor.done == 0) {
        return send_nothing(conn, failure);
    }
    return (struct sent){
        .result = TRANSFER_BYTES, .len = cursor.done, .full = failure == SSL_ERROR_WANT_WRITE};
}
