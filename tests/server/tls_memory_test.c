/* SPDX-License-Identifier: MIT */
// Memory that is not there, for OpenSSL or for us.
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"
#include "tests/support/nth_alloc.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

// OpenSSL's allocations are counted, and fail, together with ours. There are thousands of them.
static size_t next(size_t n)
{
    return n + 1 + n / 64;
}

static void *ssl_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return malloc(size);
}

static void *ssl_realloc(void *block, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return realloc(block, size);
}

static void ssl_free(void *block, const char *file, int line)
{
    (void)file;
    (void)line;
    free(block);
}

// One connection from its beginning to its end, of which every step may fail, and then says so.
// Only what the server's end does may lack memory. Returns how many allocations it made.
static size_t live(struct tls_bed *bed, size_t n)
{
    struct tls_link link;
    size_t used = 0;
    char heard[16];

    tls_link_open(&link, bed);
    while (link.handshake == HANDSHAKE_NEEDS_INPUT) {
        nth_alloc_fail(0);
        (void)SSL_do_handshake(link.client);
        nth_alloc_fail(n > used ? n - used : 0);
        link.why.text[0] = '\0';
        link.handshake = transport_tls.handshake(link.fd, &link.own, &link.why);
        used += nth_alloc_count();
    }
    if (link.handshake == HANDSHAKE_DONE) {
        struct received received;
        struct sent sent;

        nth_alloc_fail(0);
        if (SSL_do_handshake(link.client) == 1) {
            (void)SSL_write(link.client, "hello", 5);
        }
        nth_alloc_fail(n > used ? n - used : 0);
        received = tls_link_receive(&link, heard, sizeof heard);
        assert_true(received.result != TRANSFER_BYTES || received.len == 5);
        sent = tls_link_send(&link, "answer", 6);
        assert_true(sent.result != TRANSFER_BYTES || sent.len == 6);
    } else {
        assert_int_equal(link.handshake, HANDSHAKE_FAILED);
        assert_int_not_equal(link.why.text[0], '\0');
    }
    transport_tls.close(link.fd, &link.own);
    link.fd = -1;
    used += nth_alloc_count();
    nth_alloc_fail(0);
    tls_link_close(&link);
    return used;
}

static void ask_for_certificates(struct tls_bed *bed)
{
    struct pair client = pair_make(
        &(struct wish){.name = "client", .issuer = &bed->authority, .alt_names = "DNS:a,DNS:b"});

    free(bed->settings.client_ca);
    bed->settings.client_ca =
        folder_write_certificates(bed->folder, "ca.pem", bed->authority.certificate, NULL);
    bed->settings.client_certs = TLS_CLIENT_CERTS_REQUIRED;
    tls_bed_reload(bed);
    tls_bed_show(bed, &client);
    pair_free(&client);
}

static void a_connection_ends_where_openssl_has_no_memory(void **state)
{
    struct tls_bed *bed = *state;
    size_t n = 0;

    ask_for_certificates(bed);
    (void)live(bed, 0);
    do {
        tls_bed_forget_session(bed);
        n = next(n);
    } while (live(bed, n) >= n);
    assert_true(n > 100);
    // Nothing of it has lasted.
    tls_bed_forget_session(bed);
    tls_bed_expect_good(bed);
}

static void a_connection_does_not_begin_without_memory(void **state)
{
    struct tls_bed *bed = *state;
    for (size_t n = 1;; n++) {
        uint64_t own = 0;
        bool begun;

        nth_alloc_fail(n);
        begun = transport_tls.begin(-1, &own, &bed->service);
        nth_alloc_fail(0);
        transport_tls.close(-1, &own);
        if (begun) {
            assert_true(n > 5);
            break;
        }
    }
}

// Whether the settings could be used, with the n-th allocation failing.
static bool try_settings(struct tls_bed *bed)
{
    struct error_text why = {.text = ""};
    bool good = tls_prepare(bed->tls, &bed->settings, &why);

    tls_adopt(bed->tls);
    assert_true(good || why.text[0] != '\0');
    return good;
}

static void settings_are_not_taken_over_without_memory(void **state)
{
    struct tls_bed *bed = *state;
    size_t n = 0;

    ask_for_certificates(bed);
    do {
        n = next(n);
        nth_alloc_fail(n);
        (void)try_settings(bed);
    } while (nth_alloc_count() >= n);
    nth_alloc_fail(0);
    assert_true(n > 100);
    tls_bed_expect_good(bed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_connection_ends_where_openssl_has_no_memory),
        TEST(a_connection_does_not_begin_without_memory),
        TEST(settings_are_not_taken_over_without_memory),
    };

    // Before OpenSSL has allocated anything.
    if (CRYPTO_set_mem_functions(ssl_malloc, ssl_realloc, ssl_free) != 1) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
