/* SPDX-License-Identifier: MIT */
#include "tests/server/tls_bed.h"

#include "tests/support/with_cmocka.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// More than any handshake takes.
enum { STEPS_MAX = 100 };

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_bed *bed = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    SSL_SESSION_free(bed->session);
    bed->session = session;
    return 1;
}

static void make_client(struct tls_bed *bed)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    assert_non_null(context);
    assert_int_equal(
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), bed->authority.certificate), 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_session_cache_mode(context,
                                         SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    (void)SSL_CTX_set_app_data(context, bed);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    bed->client_context = context;
}

void tls_bed_open(struct tls_bed *bed)
{
    struct error_text why;

    memset(bed, 0, sizeof *bed);
    (void)signal(SIGPIPE, SIG_IGN);
    folder_make(bed->folder);
    bed->authority = pair_make(&(struct wish){.name = "authority", .is_authority = true});
    bed->server = pair_make(
        &(struct wish){.name = "server", .issuer = &bed->authority, .alt_names = "DNS:localhost"});
    bed->settings.certificate =
        folder_write_certificates(bed->folder, "server.pem", bed->server.certificate, NULL);
    bed->settings.key = folder_write_key(bed->folder, "server.key", bed->server.key, NULL);
    bed->settings.client_ca = strdup("");
    bed->settings.ciphers = strdup("");
    bed->tls = tls_new(&bed->settings, &why);
    assert_non_null(bed->tls);
    bed->service.tls = bed->tls;
    make_client(bed);
}

void tls_bed_close(struct tls_bed *bed)
{
    SSL_SESSION_free(bed->session);
    SSL_CTX_free(bed->client_context);
    tls_free(bed->tls);
    free(bed->settings.certificate);
    free(bed->settings.key);
    free(bed->settings.client_ca);
    free(bed->settings.ciphers);
    pair_free(&bed->server);
    pair_free(&bed->authority);
    folder_remove(bed->folder);
}

int tls_bed_setup(void **state)
{
    static struct tls_bed bed;

    tls_bed_open(&bed);
    *state = &bed;
    return 0;
}

int tls_bed_teardown(void **state)
{
    tls_bed_close(*state);
    return 0;
}

void tls_bed_reload(struct tls_bed *bed)
{
    struct error_text why;

    assert_true(tls_prepare(bed->tls, &bed->settings, &why));
    tls_adopt(bed->tls);
}

void tls_bed_show(struct tls_bed *bed, const struct pair *pair)
{
    assert_int_equal(SSL_CTX_use_certificate(bed->client_context, pair->certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(bed->client_context, pair->key), 1);
}

void tls_link_open_raw(struct tls_link *link, struct tls_bed *bed)
{
    int ends[2];

    memset(link, 0, sizeof *link);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    link->fd = ends[0];
    link->peer = ends[1];
    link->handshake = HANDSHAKE_NEEDS_INPUT;
    assert_true(transport_tls.begin(link->fd, &link->own, &bed->service));
}

void tls_link_open(struct tls_link *link, struct tls_bed *bed)
{
    tls_link_open_raw(link, bed);
    link->client = SSL_new(bed->client_context);
    assert_non_null(link->client);
    assert_int_equal(SSL_set_fd(link->client, link->peer), 1);
    SSL_set_connect_state(link->client);
    if (bed->session) {
        assert_int_equal(SSL_set_session(link->client, bed->session), 1);
    }
}

void tls_link_shake(struct tls_link *link)
{
    for (int i = 0;
         i < STEPS_MAX && link->handshake != HANDSHAKE_DONE && link->handshake != HANDSHAKE_FAILED;
         i++) {
        ERR_clear_error();
        if (link->client) {
            (void)SSL_do_handshake(link->client);
        }
        link->handshake = transport_tls.handshake(link->fd, &link->own, &link->why);
    }
    if (link->client) {
        ERR_clear_error();
        (void)SSL_do_handshake(link->client);
    }
}

void tls_link_connect(struct tls_link *link, struct tls_bed *bed)
{
    char none;

    tls_link_open(link, bed);
    tls_link_shake(link);
    assert_int_equal(link->handshake, HANDSHAKE_DONE);
    assert_true(SSL_is_init_finished(link->client));
    // It finds the ticket, if there is one, where it looks for bytes.
    assert_int_equal(SSL_read(link->client, &none, 1), -1);
    assert_int_equal(SSL_get_error(link->client, -1), SSL_ERROR_WANT_READ);
}

void tls_link_close(struct tls_link *link)
{
    if (link->fd >= 0) {
        transport_tls.close(link->fd, &link->own);
    }
    SSL_free(link->client);
    if (link->peer >= 0) {
        (void)close(link->peer);
    }
}

void tls_bed_expect_refused(struct tls_bed *bed, const char *why)
{
    struct tls_link link;

    tls_link_open(&link, bed);
    tls_link_shake(&link);
    assert_int_equal(link.handshake, HANDSHAKE_FAILED);
    assert_string_equal(link.why.text, why);
    tls_link_close(&link);
}

void tls_bed_expect_good(struct tls_bed *bed)
{
    struct tls_link link;

    tls_link_connect(&link, bed);
    tls_link_close(&link);
}

void tls_bed_forget_session(struct tls_bed *bed)
{
    SSL_SESSION_free(bed->session);
    bed->session = NULL;
}

struct received tls_link_receive(struct tls_link *link, void *bytes, size_t len)
{
    const struct iovec part = {.iov_base = bytes, .iov_len = len};

    // cppcheck-suppress returnDanglingLifetime ; what it returns has no pointer
    return transport_tls.receive(link->fd, &link->own, &part, 1, len);
}

struct sent tls_link_send(struct tls_link *link, const void *bytes, size_t len)
{
    const struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};

    // cppcheck-suppress returnDanglingLifetime ; what it returns has no pointer
    return transport_tls.send(link->fd, &link->own, &part, 1, len);
}

void tls_link_say(const struct tls_link *link, const void *bytes, size_t len)
{
    assert_int_equal(SSL_write(link->client, bytes, (int)len), len);
}

void tls_link_hear(const struct tls_link *link, const char *text)
{
    char heard[4096];
    int len = SSL_read(link->client, heard, sizeof heard);

    assert_int_equal(len, strlen(text));
    assert_memory_equal(heard, text, strlen(text));
}

int tls_link_client_reason(void)
{
    return ERR_GET_REASON(ERR_peek_error());
}
