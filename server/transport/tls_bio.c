/* SPDX-License-Identifier: MIT */
// OpenSSL reads and writes the descriptor itself, so that it can have the kernel encrypt where that
// is offered. What passes is looked at on its way, by a callback: whether the socket is drained,
// and what the peer begins with.
#include "server/transport/tls_private.h"

#include <errno.h>
#include <openssl/bio.h>
#include <string.h>

// The read is not made, which would find nothing but the end: OpenSSL is told to come again. The
// end, though, may have been told together with what was read. Who received something comes again
// for it (server/conn/conn_transfer.c), and who received nothing would not: for him the read is
// made.
static long refuse(BIO *bio)
{
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
    return -1;
}

// Takes note of the first bytes. They are judged before OpenSSL sees them.
static void note_first(struct tls_conn *conn, const unsigned char *bytes, size_t len)
{
    size_t room = TLS_HELLO_LEN - conn->first_len;
    size_t some = len < room ? len : room;

    memcpy(conn->first + conn->first_len, bytes, some);
    conn->first_len = (uint8_t)(conn->first_len + some);
    conn->hello = (uint8_t)tls_hello_judge(conn->first, conn->first_len);
}

static long after_read(struct tls_conn *conn, BIO *bio, const char *bytes, size_t asked,
                       const size_t *got, long result)
{
    if (result <= 0) {
        conn->drained = BIO_should_retry(bio);
        // OpenSSL could send nothing any more. What came in front of the end is to be answered.
        return conn->handed_on && !conn->drained ? refuse(bio) : result;
    }
    conn->taken += *got;
    conn->drained = conn->done && *got < asked;
    if (conn->hello == TLS_HELLO_AWAITED) {
        note_first(conn, (const unsigned char *)bytes, *got);
    }
    if (conn->hello == TLS_HELLO_PLAIN || conn->hello == TLS_HELLO_OTHER) {
        BIO_clear_retry_flags(bio);
        errno = EPROTO;
        return -1;
    }
    return result;
}

// What OpenSSL 3 asks of a BIO that is to have the kernel encrypt, or decrypt; its header names it
// in a comment alone.
enum { SET_KTLS = 72 };

// The kernel is to encrypt where it can, but not to decrypt: it hands out one record for a system
// call, where a read of ours takes all that have come.
static bool is_for_decryption(int command, long is_for_sending)
{
    return command == SET_KTLS && !is_for_sending;
}

static long on_transfer(BIO *bio, int operation, const char *bytes, size_t len, int number,
                        long value, int result, size_t *done)
{
    struct tls_conn *conn = (void *)BIO_get_callback_arg(bio);

    if (operation == BIO_CB_CTRL && is_for_decryption(number, value)) {
        return 0;
    }
    if (operation == BIO_CB_READ) {
        return conn->drained && conn->handed_on ? refuse(bio) : result;
    }
    if (operation == (BIO_CB_READ | BIO_CB_RETURN)) {
        return after_read(conn, bio, bytes, len, done, result);
    }
    return result;
}

bool tls_bio_begin(struct tls_conn *conn, int fd)
{
    BIO *bio = BIO_new_socket(fd, BIO_NOCLOSE);

    if (!bio) {
        return false;
    }
    BIO_set_callback_ex(bio, on_transfer);
    BIO_set_callback_arg(bio, (char *)conn);
    SSL_set_bio(conn->ssl, bio, bio);
    return true;
}
