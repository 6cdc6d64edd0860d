/* SPDX-License-Identifier: MIT */
// The files of [tls]: valid ones, and the messages about invalid ones.
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"

#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// One of the settings is another text, which is owned from now on.
static void set(char **setting, char *text)
{
    free(*setting);
    *setting = text;
}

// The settings are refused, everywhere, for this reason.
static void expect_reason(struct tls_bed *bed, const char *expected)
{
    struct error_text why;

    assert_false(tls_check(&bed->settings, &why));
    assert_string_equal(why.text, expected);
    assert_null(tls_new(&bed->settings, &why));
    assert_string_equal(why.text, expected);
    assert_false(tls_prepare(bed->tls, &bed->settings, &why));
    assert_string_equal(why.text, expected);
}

// The same, for a reason that names a key and a file.
static void expect_complaint(struct tls_bed *bed, const char *key, const char *path,
                             const char *what)
{
    char expected[512];

    (void)snprintf(expected, sizeof expected, "tls.%s %s: %s", key, path, what);
    expect_reason(bed, expected);
}

static void good_files_are_good(void **state)
{
    struct tls_bed *bed = *state;
    struct error_text why;

    assert_true(tls_check(&bed->settings, &why));
}

static void without_a_certificate_nothing_begins(void **state)
{
    struct tls_bed *bed = *state;

    set(&bed->settings.certificate, strdup(""));
    expect_reason(bed, "tls.certificate: no file is named");
}

static void a_file_that_is_missing_is_named(void **state)
{
    struct tls_bed *bed = *state;
    char *good = strdup(bed->settings.certificate);

    set(&bed->settings.certificate, strdup("/tmp/none/server.pem"));
    expect_complaint(bed, "certificate", "/tmp/none/server.pem", "No such file or directory");
    set(&bed->settings.certificate, good);
    set(&bed->settings.key, strdup("/tmp/none/server.key"));
    expect_complaint(bed, "key", "/tmp/none/server.key", "No such file or directory");
    set(&bed->settings.client_ca, strdup("/tmp/none/ca.pem"));
    set(&bed->settings.key, folder_write_key(bed->folder, "server.key", bed->server.key, NULL));
    expect_complaint(bed, "client_ca", "/tmp/none/ca.pem", "No such file or directory");
}

static void other_kinds_of_files_are_not_read(void **state)
{
    struct tls_bed *bed = *state;
    char *fifo = folder_write(bed->folder, "fifo", 0600, "", 0);

    set(&bed->settings.certificate, strdup(bed->folder));
    expect_complaint(bed, "certificate", bed->folder, "not a regular file");
    (void)unlink(fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    set(&bed->settings.certificate, fifo);
    expect_complaint(bed, "certificate", fifo, "not a regular file");
}

static void an_endless_file_is_not_read(void **state)
{
    struct tls_bed *bed = *state;
    char *path = folder_write(bed->folder, "long.pem", 0644, "", 0);

    assert_int_equal(truncate(path, 5 * 1024 * 1024), 0);
    set(&bed->settings.certificate, path);
    expect_complaint(bed, "certificate", path, "too long");
}

static void a_file_that_holds_no_certificate_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    char *path = folder_write(bed->folder, "empty.pem", 0644, "", 0);

    set(&bed->settings.certificate, path);
    expect_complaint(bed, "certificate", path, "holds no certificate in PEM");
    path = folder_write_key(bed->folder, "other.key", bed->server.key, NULL);
    set(&bed->settings.certificate, path);
    expect_complaint(bed, "certificate", path, "holds no certificate in PEM");
}

static void a_damaged_certificate_is_refused(void **state)
{
    static const char damaged[] = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    struct tls_bed *bed = *state;
    char *path = folder_write(bed->folder, "damaged.pem", 0644, damaged, sizeof damaged - 1);

    set(&bed->settings.certificate, path);
    expect_complaint(bed, "certificate", path, "holds a damaged certificate");
}

static void a_key_of_another_certificate_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    char *path = folder_write_key(bed->folder, "other.key", bed->authority.key, NULL);

    set(&bed->settings.key, path);
    expect_complaint(bed, "key", path, "key values mismatch");
}

static void a_file_that_holds_no_key_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    char *path = folder_write(bed->folder, "no.key", 0600, "none", 4);

    set(&bed->settings.key, path);
    expect_complaint(bed, "key", path, "holds no private key in PEM, or a damaged one");
}

static void an_encrypted_key_is_refused_without_asking(void **state)
{
    struct tls_bed *bed = *state;
    char *path = folder_write_key(bed->folder, "locked.key", bed->server.key, "secret");

    set(&bed->settings.key, path);
    expect_complaint(bed, "key", path, "the private key is encrypted");
}

// (A terminal would be asked.)
static void an_encrypted_certificate_is_refused_without_asking(void **state)
{
    static const char locked[] = "-----BEGIN CERTIFICATE-----\n"
                                 "Proc-Type: 4,ENCRYPTED\n"
                                 "DEK-Info: AES-128-CBC,000102030405060708090A0B0C0D0E0F\n\n"
                                 "AAAAAAAAAAAAAAAAAAAAAA==\n"
                                 "-----END CERTIFICATE-----\n";
    struct tls_bed *bed = *state;
    char *path = folder_write(bed->folder, "locked.pem", 0644, locked, sizeof locked - 1);

    set(&bed->settings.certificate, path);
    expect_complaint(bed, "certificate", path, "holds an encrypted certificate");
}

static void a_world_readable_key_is_refused(void **state)
{
    static const unsigned modes[] = {0604, 0602, 0601};
    struct tls_bed *bed = *state;
    struct error_text why;

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(bed->settings.key, (mode_t)modes[i]), 0);
        expect_complaint(bed, "key", bed->settings.key,
                         "holds a private key and is open to everybody; `chmod o=` helps");
    }
    assert_int_equal(chmod(bed->settings.key, 0640), 0);
    assert_true(tls_check(&bed->settings, &why));
}

static void certificate_and_key_may_be_one_file(void **state)
{
    struct tls_bed *bed = *state;
    BIO *memory = BIO_new(BIO_s_mem());
    char *bytes;
    long len;
    struct error_text why;

    PEM_write_bio_PrivateKey(memory, bed->server.key, NULL, NULL, 0, NULL, NULL);
    PEM_write_bio_X509(memory, bed->server.certificate);
    PEM_write_bio_X509(memory, bed->authority.certificate);
    len = BIO_get_mem_data(memory, &bytes);
    set(&bed->settings.key, strdup(""));
    // Without a key, the mode of the certificate does not matter.
    expect_complaint(bed, "certificate", bed->settings.certificate,
                     "holds no private key in PEM, or a damaged one");
    set(&bed->settings.certificate,
        folder_write(bed->folder, "both.pem", 0604, bytes, (size_t)len));
    expect_complaint(bed, "certificate", bed->settings.certificate,
                     "holds a private key and is open to everybody; `chmod o=` helps");
    assert_int_equal(chmod(bed->settings.certificate, 0600), 0);
    assert_true(tls_check(&bed->settings, &why));
    (void)BIO_free(memory);
}

static void a_link_that_others_can_put_there_is_not_followed(void **state)
{
    struct tls_bed *bed = *state;
    char *path = folder_write(bed->folder, "link.pem", 0644, "", 0);
    struct error_text why;

    (void)unlink(path);
    assert_int_equal(symlink(bed->settings.certificate, path), 0);
    set(&bed->settings.certificate, path);
    assert_true(tls_check(&bed->settings, &why));
    assert_int_equal(chmod(bed->folder, 0777), 0);
    expect_complaint(bed, "certificate", path,
                     "leads through a symbolic link that others can put there");
}

static void unknown_ciphers_are_refused(void **state)
{
    struct tls_bed *bed = *state;

    set(&bed->settings.ciphers, strdup("ROT13"));
    expect_reason(bed, "tls.ciphers: no cipher match");
}

// Otherwise every handshake would fail.
static void a_certificate_that_is_too_weak_for_the_ciphers_is_refused(void **state)
{
    struct tls_bed *bed = *state;

    set(&bed->settings.ciphers, strdup("DEFAULT:@SECLEVEL=5"));
    expect_complaint(bed, "certificate", bed->settings.certificate, "ee key too small");
}

static void clients_certificates_need_authorities(void **state)
{
    struct tls_bed *bed = *state;
    char *path = folder_write(bed->folder, "ca.pem", 0644, "", 0);

    bed->settings.client_certs = TLS_CLIENT_CERTS_OPTIONAL;
    expect_reason(bed, "tls.client_certs: needs client_ca");
    set(&bed->settings.client_ca, path);
    expect_complaint(bed, "client_ca", path, "holds no certificate in PEM");
}

static void a_client_is_sent_the_accepted_authorities(void **state)
{
    struct tls_bed *bed = *state;
    struct pair other = pair_make(&(struct wish){.name = "other", .is_authority = true});
    struct tls_link link;

    set(&bed->settings.client_ca,
        folder_write_certificates(bed->folder, "ca.pem", bed->authority.certificate,
                                  other.certificate));
    bed->settings.client_certs = TLS_CLIENT_CERTS_OPTIONAL;
    tls_bed_reload(bed);
    tls_link_connect(&link, bed);
    assert_int_equal(sk_X509_NAME_num(SSL_get0_peer_CA_list(link.client)), 2);
    tls_link_close(&link);
    pair_free(&other);
}

static void the_chain_behind_the_certificate_is_sent(void **state)
{
    struct tls_bed *bed = *state;
    struct pair middle = pair_make(
        &(struct wish){.name = "middle", .issuer = &bed->authority, .is_authority = true});
    struct pair server = pair_make(&(struct wish){.name = "server", .issuer = &middle});
    struct tls_link link;

    set(&bed->settings.certificate,
        folder_write_certificates(bed->folder, "chain.pem", server.certificate,
                                  middle.certificate));
    set(&bed->settings.key, folder_write_key(bed->folder, "chain.key", server.key, NULL));
    tls_bed_reload(bed);
    tls_link_connect(&link, bed);
    assert_int_equal(sk_X509_num(SSL_get_peer_cert_chain(link.client)), 2);
    tls_link_close(&link);
    pair_free(&server);
    pair_free(&middle);
}

// Client CAs are not added to the chain, even if one of them has issued the certificate: a search
// would slow each handshake, and the client gets the contents of the file.
static void nothing_but_the_file_of_the_certificate_is_sent(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;

    set(&bed->settings.client_ca,
        folder_write_certificates(bed->folder, "ca.pem", bed->authority.certificate, NULL));
    tls_bed_reload(bed);
    tls_link_connect(&link, bed);
    assert_int_equal(sk_X509_num(SSL_get_peer_cert_chain(link.client)), 1);
    tls_link_close(&link);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(good_files_are_good),
        TEST(without_a_certificate_nothing_begins),
        TEST(a_file_that_is_missing_is_named),
        TEST(other_kinds_of_files_are_not_read),
        TEST(an_endless_file_is_not_read),
        TEST(a_file_that_holds_no_certificate_is_refused),
        TEST(a_damaged_certificate_is_refused),
        TEST(a_key_of_another_certificate_is_refused),
        TEST(a_file_that_holds_no_key_is_refused),
        TEST(an_encrypted_key_is_refused_without_asking),
        TEST(an_encrypted_certificate_is_refused_without_asking),
        TEST(a_world_readable_key_is_refused),
        TEST(certificate_and_key_may_be_one_file),
        TEST(a_link_that_others_can_put_there_is_not_followed),
        TEST(unknown_ciphers_are_refused),
        TEST(a_certificate_that_is_too_weak_for_the_ciphers_is_refused),
        TEST(clients_certificates_need_authorities),
        TEST(a_client_is_sent_the_accepted_authorities),
        TEST(the_chain_behind_the_certificate_is_sent),
        TEST(nothing_but_the_file_of_the_certificate_is_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
