/* SPDX-License-Identifier: MIT */
// Sessions that are taken up again by a ticket, and contexts that are read again.
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOUR = 3600 };

// The time of OpenSSL, too, later by a number of seconds.
static time_t later;

time_t time(time_t *at)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += later;
    if (at) {
        *at = now.tv_sec;
    }
    return now.tv_sec;
}

static void use_tls_1_2(struct tls_bed *bed)
{
    (void)SSL_CTX_set_max_proto_version(bed->client_context, TLS1_2_VERSION);
}

// Whether the next connection takes up the session of the one before.
static bool is_taken_up(struct tls_bed *bed)
{
    struct tls_link link;
    bool taken_up;

    tls_link_connect(&link, bed);
    taken_up = SSL_session_reused(link.client);
    // Of TLS 1.2, which leaves a session good only where it has ended well.
    (void)SSL_shutdown(link.client);
    tls_link_close(&link);
    return taken_up;
}

static void set_authorities(struct tls_bed *bed, const struct pair *authority,
                            enum tls_client_certs how)
{
    free(bed->settings.client_ca);
    bed->settings.client_ca =
        folder_write_certificates(bed->folder, "ca.pem", authority->certificate, NULL);
    bed->settings.client_certs = (int)how;
    tls_bed_reload(bed);
}

static void renew_certificate(struct tls_bed *bed)
{
    pair_free(&bed->server);
    bed->server = pair_make(&(struct wish){.name = "renewed", .issuer = &bed->authority});
    free(bed->settings.certificate);
    free(bed->settings.key);
    bed->settings.certificate =
        folder_write_certificates(bed->folder, "renewed.pem", bed->server.certificate, NULL);
    bed->settings.key = folder_write_key(bed->folder, "renewed.key", bed->server.key, NULL);
    tls_bed_reload(bed);
}

static void a_ticket_resumes_a_session(void **state)
{
    assert_false(is_taken_up(*state));
    assert_non_null(((struct tls_bed *)*state)->session);
    assert_true(is_taken_up(*state));
    assert_true(is_taken_up(*state));
}

static void a_ticket_of_tls_1_2_resumes_a_session(void **state)
{
    use_tls_1_2(*state);
    assert_false(is_taken_up(*state));
    assert_true(is_taken_up(*state));
}

static void a_ticket_outlives_the_renewal_of_the_certificate(void **state)
{
    struct tls_bed *bed = *state;

    assert_false(is_taken_up(bed));
    renew_certificate(bed);
    assert_true(is_taken_up(bed));
}

static void the_identity_of_the_peer_is_kept_in_its_ticket(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = pair_make(
        &(struct wish){.name = "client", .issuer = &bed->authority, .alt_names = "DNS:a"});
    struct tls_link link;
    const struct peer_identity *identity;

    set_authorities(bed, &bed->authority, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    assert_false(is_taken_up(bed));
    tls_link_connect(&link, bed);
    assert_true(SSL_session_reused(link.client));
    identity = transport_tls.identity(&link.own);
    assert_non_null(identity);
    assert_string_equal(identity->subject, "CN=client,O=Tandem tests");
    assert_string_equal(identity->alt_names, "DNS:a");
    tls_link_close(&link);
    pair_free(&client);
}

// The file has the same name as before, but other authorities in it.
static void a_ticket_does_not_bypass_new_authorities(void **state)
{
    struct tls_bed *bed = *state;
    struct pair other = pair_make(&(struct wish){.name = "other", .is_authority = true});
    struct pair client = pair_make(&(struct wish){.name = "client", .issuer = &bed->authority});

    set_authorities(bed, &bed->authority, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    assert_false(is_taken_up(bed));
    assert_true(is_taken_up(bed));
    set_authorities(bed, &other, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_expect_refused(
        bed, "certificate verify failed: self-signed certificate in certificate chain");
    pair_free(&client);
    pair_free(&other);
}

static void a_ticket_does_not_bypass_a_required_certificate(void **state)
{
    struct tls_bed *bed = *state;

    set_authorities(bed, &bed->authority, TLS_CLIENT_CERTS_OPTIONAL);
    assert_false(is_taken_up(bed));
    assert_true(is_taken_up(bed));
    set_authorities(bed, &bed->authority, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_expect_refused(bed, "peer did not return a certificate");
}

static void a_ticket_does_not_bypass_other_ciphers(void **state)
{
    struct tls_bed *bed = *state;

    use_tls_1_2(bed);
    assert_int_equal(SSL_CTX_set_cipher_list(bed->client_context, "AES128:AES256"), 1);
    assert_false(is_taken_up(bed));
    assert_true(is_taken_up(bed));
    free(bed->settings.ciphers);
    bed->settings.ciphers = strdup("ECDHE-ECDSA-AES256-GCM-SHA384");
    tls_bed_reload(bed);
    assert_false(is_taken_up(bed));
}

static void a_ticket_does_not_outlive_its_clients_certificate(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client =
        pair_make(&(struct wish){.name = "client", .issuer = &bed->authority, .good_for = HOUR});

    set_authorities(bed, &bed->authority, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    assert_false(is_taken_up(bed));
    later = HOUR - 60;
    assert_true(is_taken_up(bed));
    later = HOUR + 60;
    tls_bed_expect_refused(bed, "certificate verify failed: certificate has expired");
    later = 0;
    pair_free(&client);
}

static void a_forged_ticket_costs_a_full_handshake(void **state)
{
    struct tls_bed *bed = *state;
    struct error_text why;

    assert_false(is_taken_up(bed));
    // As after a restart.
    tls_free(bed->tls);
    bed->tls = tls_new(&bed->settings, &why);
    assert_non_null(bed->tls);
    bed->service.tls = bed->tls;
    assert_false(is_taken_up(bed));
    assert_true(is_taken_up(bed));
}

static void connections_keep_what_they_began_with(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link begun;
    struct tls_link open;
    struct pair before = {.certificate = bed->server.certificate};

    (void)X509_up_ref(before.certificate);
    tls_link_connect(&open, bed);
    tls_bed_forget_session(bed);
    tls_link_open(&begun, bed);
    renew_certificate(bed);
    tls_link_shake(&begun);
    assert_int_equal(begun.handshake, HANDSHAKE_DONE);
    assert_int_equal(X509_cmp(SSL_get0_peer_certificate(begun.client), before.certificate), 0);
    assert_int_equal(tls_link_send(&open, "still here", 10).len, 10);
    tls_link_hear(&open, "still here");
    tls_link_close(&begun);
    tls_link_close(&open);
    pair_free(&before);
}

static void new_connections_see_the_new_certificate(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;

    renew_certificate(bed);
    tls_link_connect(&link, bed);
    assert_int_equal(X509_cmp(SSL_get0_peer_certificate(link.client), bed->server.certificate), 0);
    tls_link_close(&link);
}

static void bad_files_change_nothing(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;
    struct error_text why;

    assert_false(is_taken_up(bed));
    free(bed->settings.key);
    bed->settings.key = strdup("/tmp/none");
    assert_false(tls_prepare(bed->tls, &bed->settings, &why));
    tls_adopt(bed->tls);
    assert_string_equal(why.text, "tls.key /tmp/none: No such file or directory");
    assert_true(is_taken_up(bed));
    tls_bed_forget_session(bed);
    tls_link_connect(&link, bed);
    assert_int_equal(X509_cmp(SSL_get0_peer_certificate(link.client), bed->server.certificate), 0);
    tls_link_close(&link);
}

#if defined(__SANITIZE_THREAD__) && OPENSSL_VERSION_NUMBER >= 0x30400000L
// ThreadSanitizer does not see the reference counts of OpenSSL, by which the last one frees what
// others have read before. Older versions also lock something then.
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "race:^SSL_CTX_free$\nrace:^OPENSSL_sk_free$\nrace:^OPENSSL_sk_pop_free$\n";
}
#endif

static void *begin_and_close(void *context)
{
    struct tls_bed *bed = context;

    for (int i = 0; i < 200; i++) {
        uint64_t own = 0;

        assert_true(transport_tls.begin(-1, &own, &bed->service));
        transport_tls.close(-1, &own);
    }
    return NULL;
}

// Finds data races under the thread sanitizer.
static void connections_begin_on_any_thread_while_files_are_read(void **state)
{
    struct tls_bed *bed = *state;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, begin_and_close, bed), 0);
    for (int i = 0; i < 20; i++) {
        tls_bed_reload(bed);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    tls_bed_expect_good(bed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_ticket_resumes_a_session),
        TEST(a_ticket_of_tls_1_2_resumes_a_session),
        TEST(a_ticket_outlives_the_renewal_of_the_certificate),
        TEST(the_identity_of_the_peer_is_kept_in_its_ticket),
        TEST(a_ticket_does_not_bypass_new_authorities),
        TEST(a_ticket_does_not_bypass_a_required_certificate),
        TEST(a_ticket_does_not_bypass_other_ciphers),
        TEST(a_ticket_does_not_outlive_its_clients_certificate),
        TEST(a_forged_ticket_costs_a_full_handshake),
        TEST(connections_keep_what_they_began_with),
        TEST(new_connections_see_the_new_certificate),
        TEST(bad_files_change_nothing),
        TEST(connections_begin_on_any_thread_while_files_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
