/* SPDX-License-Identifier: MIT */
// Whom a handshake lets in, and who the peer is then.
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"
#include "tests/support/nth_alloc.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOUR = 3600 };

// Clients' certificates are looked at from now on.
static void ask_for_certificates(struct tls_bed *bed, enum tls_client_certs how)
{
    free(bed->settings.client_ca);
    bed->settings.client_ca =
        folder_write_certificates(bed->folder, "ca.pem", bed->authority.certificate, NULL);
    bed->settings.client_certs = (int)how;
    tls_bed_reload(bed);
}

// A certificate signed by the bed's authority, by another one, or by itself.
static struct pair make_client(const struct pair *issuer, const char *alt_names, long good_for)
{
    return pair_make(&(struct wish){
        .name = "client", .issuer = issuer, .alt_names = alt_names, .good_for = good_for});
}

static void expect_identity(struct tls_bed *bed, const char *subject, const char *alt_names)
{
    struct tls_link link;
    const struct peer_identity *identity;

    tls_link_connect(&link, bed);
    identity = transport_tls.identity(&link.own);
    assert_non_null(identity);
    assert_string_equal(identity->subject, subject);
    assert_string_equal(identity->alt_names, alt_names);
    tls_link_close(&link);
}

static void expect_no_identity(struct tls_bed *bed)
{
    struct tls_link link;

    tls_link_connect(&link, bed);
    assert_null(transport_tls.identity(&link.own));
    tls_link_close(&link);
}

static void a_client_that_is_not_asked_shows_no_certificate(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = make_client(&bed->authority, NULL, 0);

    tls_bed_show(bed, &client);
    expect_no_identity(bed);
    pair_free(&client);
}

static void an_optional_certificate_is_kept_with_the_connection(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = make_client(
        &bed->authority,
        "DNS:worker.example,email:a@b.example,URI:urn:x,IP:10.0.0.1,IP:::1,RID:1.2.3", 0);

    ask_for_certificates(bed, TLS_CLIENT_CERTS_OPTIONAL);
    expect_no_identity(bed);
    tls_bed_show(bed, &client);
    expect_identity(bed, "CN=client,O=Tandem tests",
                    "DNS:worker.example, email:a@b.example, URI:urn:x, IP Address:10.0.0.1, "
                    "IP Address:::1");
    pair_free(&client);
}

static void a_certificate_without_alternative_names_has_a_subject(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = make_client(&bed->authority, NULL, 0);

    ask_for_certificates(bed, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    expect_identity(bed, "CN=client,O=Tandem tests", "");
    pair_free(&client);
}

static void a_name_cannot_imitate_another(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = pair_make(&(struct wish){
        .name = "a,O=root\n\x01", .issuer = &bed->authority, .email = SLICE("a, DNS:b")});

    ask_for_certificates(bed, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    expect_identity(bed, "CN=a\\,O=root\\0A\\01,O=Tandem tests", "email:a\\, DNS:b");
    pair_free(&client);
}

// The names that rules compare, each followed by a bar.
static void expect_names(struct tls_bed *bed, const struct pair *client, const char *names)
{
    struct tls_link link;
    const struct peer_identity *identity;
    char text[256];
    size_t len = 0;

    ask_for_certificates(bed, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, client);
    tls_link_connect(&link, bed);
    identity = transport_tls.identity(&link.own);
    assert_non_null(identity);
    for (size_t i = 0; i < identity->name_count; i++) {
        struct slice name = identity->names[i];

        assert_in_range(len + name.len + 1, 1, sizeof text - 1);
        memcpy(text + len, name.ptr, name.len);
        len += name.len;
        text[len++] = '|';
    }
    text[len] = '\0';
    assert_string_equal(text, names);
    tls_link_close(&link);
}

static void each_name_is_listed_separately(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = pair_make(&(struct wish){
        .name = "client",
        .cn_too = SLICE("second"),
        .issuer = &bed->authority,
        .alt_names =
            "DNS:worker.example,email:a@b.example,URI:urn:x,IP:10.0.0.1,IP:::1,RID:1.2.3"});

    expect_names(bed, &client, "client|second|worker.example|a@b.example|urn:x|10.0.0.1|::1|");
    pair_free(&client);
}

static void a_name_that_looks_like_several_is_one(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = pair_make(&(struct wish){
        .name = "a,CN=admin", .issuer = &bed->authority, .email = SLICE("a, DNS:admin")});

    expect_names(bed, &client, "a,CN=admin|a, DNS:admin|");
    pair_free(&client);
}

static void a_name_with_a_nul_is_left_out(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = pair_make(&(struct wish){.name = "client",
                                                  .cn_too = SLICE("admin\0.client.example"),
                                                  .issuer = &bed->authority,
                                                  .email = SLICE("admin\0@client.example")});

    expect_names(bed, &client, "client|");
    pair_free(&client);
}

static void names_that_are_too_long_are_refused(void **state)
{
    struct tls_bed *bed = *state;
    char names[3 * 4096];
    struct pair client;

    memset(names, 'a', sizeof names);
    memcpy(names, "DNS:", 4);
    names[sizeof names - 1] = '\0';
    client = make_client(&bed->authority, names, 0);
    ask_for_certificates(bed, TLS_CLIENT_CERTS_OPTIONAL);
    tls_bed_show(bed, &client);
    tls_bed_expect_refused(bed, "the names in the certificate are too long");
    pair_free(&client);
}

static void a_required_certificate_that_is_missing_is_refused_by_an_alert(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;
    char heard[16];

    ask_for_certificates(bed, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_expect_refused(bed, "peer did not return a certificate");
    // A client of TLS 1.3 believes to be connected, and has asked for something already.
    tls_link_open(&link, bed);
    while (SSL_do_handshake(link.client) != 1) {
        assert_int_equal(transport_tls.handshake(link.fd, &link.own, &link.why),
                         HANDSHAKE_NEEDS_INPUT);
    }
    tls_link_say(&link, "stats\r\n", 7);
    assert_int_equal(transport_tls.handshake(link.fd, &link.own, &link.why), HANDSHAKE_FAILED);
    transport_tls.close(link.fd, &link.own);
    link.fd = -1;
    ERR_clear_error();
    assert_true(SSL_read(link.client, heard, sizeof heard) <= 0);
    assert_int_equal(tls_link_client_reason(), SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED);
    tls_link_close(&link);
}

static void a_certificate_that_has_expired_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = make_client(&bed->authority, NULL, -HOUR);

    ask_for_certificates(bed, TLS_CLIENT_CERTS_OPTIONAL);
    tls_bed_show(bed, &client);
    tls_bed_expect_refused(bed, "certificate verify failed: certificate has expired");
    pair_free(&client);
}

static void a_certificate_that_vouches_for_itself_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = make_client(NULL, NULL, 0);

    ask_for_certificates(bed, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    tls_bed_expect_refused(bed, "certificate verify failed: self-signed certificate");
    pair_free(&client);
}

static void a_certificate_of_another_authority_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    struct pair other = pair_make(&(struct wish){.name = "other", .is_authority = true});
    struct pair client = make_client(&other, NULL, 0);

    ask_for_certificates(bed, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    tls_bed_expect_refused(bed,
                           "certificate verify failed: unable to get local issuer certificate");
    pair_free(&client);
    pair_free(&other);
}

static void a_chain_that_is_too_long_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = make_client(&bed->authority, NULL, 0);

    ask_for_certificates(bed, TLS_CLIENT_CERTS_OPTIONAL);
    tls_bed_show(bed, &client);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(SSL_CTX_add1_chain_cert(bed->client_context, bed->authority.certificate),
                         1);
    }
    tls_bed_expect_refused(bed, "excessive message size");
    pair_free(&client);
}

static void the_identity_of_the_peer_needs_memory(void **state)
{
    struct tls_bed *bed = *state;
    struct pair client = make_client(&bed->authority, NULL, 0);

    ask_for_certificates(bed, TLS_CLIENT_CERTS_REQUIRED);
    tls_bed_show(bed, &client);
    for (size_t n = 1; n <= 3; n++) {
        struct tls_link link;

        tls_link_open(&link, bed);
        nth_alloc_fail(n);
        tls_link_shake(&link);
        nth_alloc_fail(0);
        assert_int_equal(link.handshake, HANDSHAKE_FAILED);
        assert_string_equal(link.why.text, "out of memory");
        tls_link_close(&link);
    }
    pair_free(&client);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_client_that_is_not_asked_shows_no_certificate),
        TEST(an_optional_certificate_is_kept_with_the_connection),
        TEST(a_certificate_without_alternative_names_has_a_subject),
        TEST(a_name_cannot_imitate_another),
        TEST(each_name_is_listed_separately),
        TEST(a_name_that_looks_like_several_is_one),
        TEST(a_name_with_a_nul_is_left_out),
        TEST(names_that_are_too_long_are_refused),
        TEST(a_required_certificate_that_is_missing_is_refused_by_an_alert),
        TEST(a_certificate_that_has_expired_is_refused),
        TEST(a_certificate_that_vouches_for_itself_is_refused),
        TEST(a_certificate_of_another_authority_is_refused),
        TEST(a_chain_that_is_too_long_is_refused),
        TEST(the_identity_of_the_peer_needs_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
