/* SPDX-License-Identifier: MIT */
#include "tests/bench/tls.h"

#include "tests/bench/buffer.h"

#include <err.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

// The maximum content of a TLS record, in bytes.
#define READ_ROOM 16384

struct tls {
    SSL_CTX *context;
    SSL_SESSION *session; // the last one that came with a ticket
    uint64_t handshakes;
    uint64_t resumed;
};

struct tls_link {
    struct tls *tls;
    SSL *ssl;
    bool needs_room;
};

__attribute__((noreturn)) static void failed(const char *what)
{
    unsigned long code = ERR_get_error();
    errx(1, "%s: %s", what, code ? ERR_reason_error_string(code) : "the connection was lost");
}

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    SSL_SESSION_free(tls->session);
    tls->session = session;
    return 1; // it is ours now
}

struct tls *tls_new(bool tickets)
{
    struct tls *tls = calloc(1, sizeof *tls);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!tls || !context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION))
        failed("cannot begin with TLS");
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_app_data(context, tls);
    if (tickets) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    }
    tls->context = context;
    return tls;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    SSL_SESSION_free(tls->session);
    SSL_CTX_free(tls->context);
    free(tls);
}

uint64_t tls_handshakes(const struct tls *tls)
{
    return tls->handshakes;
}

uint64_t tls_resumed(const struct tls *tls)
{
    return tls->resumed;
}

struct tls_link *tls_open(struct tls *tls, int fd)
{
    struct tls_link *link = calloc(1, sizeof *link);
    SSL *ssl = SSL_new(tls->context);
    if (!link || !ssl || !SSL_set_fd(ssl, fd) ||
        (tls->session && !SSL_set_session(ssl, tls->session)))
        failed("cannot begin with TLS on a connection");
    SSL_set_connect_state(ssl);
    *link = (struct tls_link){.tls = tls, .ssl = ssl};
    return link;
}

void tls_close(struct tls_link *link)
{
    if (SSL_is_init_finished(link->ssl)) {
        link->tls->handshakes++;
        link->tls->resumed += (uint64_t)SSL_session_reused(link->ssl);
        ERR_clear_error();
        (void)SSL_shutdown(link->ssl); // the socket may be full, or closed
    }
    SSL_free(link->ssl);
    free(link);
}

// Whether a call that ended with `result` is to be made again later; false: the end has come.
static bool may_wait(struct tls_link *link, int result)
{
    int reason = SSL_get_error(link->ssl, result);
    link->needs_room = reason == SSL_ERROR_WANT_WRITE;
    if (reason == SSL_ERROR_ZERO_RETURN)
        return false;
    if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
        failed("TLS");
    return true;
}

bool tls_receive(struct tls_link *link, struct buffer *in)
{
    for (;;) {
        ERR_clear_error();
        int got = SSL_read(link->ssl, buffer_room(in, READ_ROOM), READ_ROOM);
        if (got <= 0)
            return may_wait(link, got);
        buffer_filled(in, (size_t)got);
    }
}

void tls_send(struct tls_link *link, struct buffer *out)
{
    while (buffer_len(out) > 0) {
        size_t len = buffer_len(out) < INT_MAX ? buffer_len(out) : INT_MAX;
        ERR_clear_error();
        int sent = SSL_write(link->ssl, buffer_bytes(out), (int)len);
        if (sent <= 0) {
            if (!may_wait(link, sent))
                failed("TLS");
            return;
        }
        buffer_used(out, (size_t)sent);
    }
    link->needs_room = false;
}

bool tls_needs_room(const struct tls_link *link)
{
    return link->needs_room;
}

void tls_add_half_hello(struct buffer *out)
{
    struct tls *tls = tls_new(false);
    SSL *ssl = SSL_new(tls->context);
    BIO *written = BIO_new(BIO_s_mem());
    BIO *unread = BIO_new(BIO_s_mem());
    if (!ssl || !written || !unread)
        failed("cannot begin with TLS");
    SSL_set_bio(ssl, unread, written);
    SSL_set_connect_state(ssl);
    (void)SSL_do_handshake(ssl); // waits for the answer
    char *bytes;
    long len = BIO_get_mem_data(written, &bytes);
    if (len < 2)
        failed("no first message");
    buffer_add(out, bytes, (size_t)len / 2);
    SSL_free(ssl);
    tls_free(tls);
}
