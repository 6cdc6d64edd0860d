/* SPDX-License-Identifier: MIT */
// Rules for the names in clients' certificates.
#include "tests/server/access_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Turns after which no more replies are expected.
enum { MANY_TURNS = 100 };

struct cert_bed {
    struct access_bed *access;
    struct tls_bed tls;
    struct service service;
};

static int cert_setup(void **state)
{
    struct cert_bed *bed = calloc(1, sizeof *bed);
    void *access = NULL;

    assert_non_null(bed);
    (void)access_bed_setup(&access);
    bed->access = access;
    tls_bed_open(&bed->tls);
    free(bed->tls.settings.client_ca);
    bed->tls.settings.client_ca =
        folder_write_certificates(bed->tls.folder, "ca.pem", bed->tls.authority.certificate, NULL);
    bed->tls.settings.client_certs = TLS_CLIENT_CERTS_OPTIONAL;
    tls_bed_reload(&bed->tls);
    bed->service = bed->access->bed.service;
    bed->service.transport = &transport_tls;
    bed->service.io.transport = &transport_tls;
    *state = bed;
    return 0;
}

static int cert_teardown(void **state)
{
    struct cert_bed *bed = *state;
    void *access = bed->access;

    (void)access_bed_teardown(&access);
    tls_bed_close(&bed->tls);
    free(bed);
    return 0;
}

// A connection of a client that shows the certificate, if there is one.
static struct tls_link connect_as(struct cert_bed *bed, const struct wish *wish)
{
    struct tls_link link;

    tls_bed_forget_session(&bed->tls);
    if (wish) {
        struct pair pair = pair_make(wish);

        tls_bed_show(&bed->tls, &pair);
        pair_free(&pair);
    }
    tls_link_connect(&link, &bed->tls);
    conn_open(&bed->service, link.fd, &link.own, "test");
    link.fd = -1;
    bed_turns(&bed->access->bed, 2);
    return link;
}

static void ask(struct cert_bed *bed, const struct tls_link *link, const char *line,
                const char *answer)
{
    char text[64] = "";
    int len = -1;

    tls_link_say(link, line, strlen(line));
    tls_link_say(link, "\n", 1);
    for (unsigned turns = 0; turns < MANY_TURNS && len <= 0; turns++) {
        bed_turns(&bed->access->bed, 1);
        len = SSL_read(link->client, text, sizeof text - 1);
    }
    assert_in_range(len, 1, sizeof text - 1);
    text[len - 1] = '\0';
    assert_string_equal(text, answer);
}

static void expect(struct cert_bed *bed, struct wish wish, const char *answer)
{
    struct tls_link link;

    wish.issuer = &bed->tls.authority;
    wish.name = wish.name ? wish.name : "client";
    link = connect_as(bed, &wish);
    ask(bed, &link, "may", answer);
    tls_link_close(&link);
    bed_turns(&bed->access->bed, 3);
}

static void each_name_of_a_certificate_may_be_in_a_rule(void **state)
{
    struct cert_bed *bed = *state;

    access_bed_rule(bed->access, "cert:worker-*.example work jobs\n"
                                 "cert:ops@example.org observe jobs\n"
                                 "cert:10.1.2.3 submit jobs\n"
                                 "cert:urn:tandem:* operate jobs\n");
    expect(bed, (struct wish){.name = "worker-1.example"}, "may 2");
    expect(bed, (struct wish){.alt_names = "DNS:other.example,DNS:worker-2.example"}, "may 2");
    expect(bed, (struct wish){.alt_names = "email:ops@example.org"}, "may 4");
    expect(bed, (struct wish){.alt_names = "IP:10.1.2.3,URI:urn:tandem:x"}, "may 25");
    expect(bed, (struct wish){.name = "boss.worker-1.example.org"}, "may 0");
}

static void rules_of_certificate_and_user_add_up(void **state)
{
    struct cert_bed *bed = *state;

    access_bed_rule(bed->access, "cert:client work jobs\nuser:%u observe jobs\n", geteuid());
    expect(bed, (struct wish){.name = "client"}, "may 6");
    expect(bed, (struct wish){.name = "another"}, "may 4");
}

static void a_client_without_a_certificate_has_no_name(void **state)
{
    struct cert_bed *bed = *state;
    struct tls_link link;

    access_bed_rule(bed->access, "cert:* work jobs\nany observe jobs\n");
    link = connect_as(bed, NULL);
    ask(bed, &link, "may", "may 4");
    tls_link_close(&link);
}

static void a_name_that_contains_another_does_not_match_it(void **state)
{
    struct cert_bed *bed = *state;

    access_bed_rule(bed->access, "cert:admin work jobs\ncert:admin.example work jobs\n");
    expect(bed, (struct wish){.email = SLICE("a, DNS:admin")}, "may 0");
    expect(bed, (struct wish){.name = "a,CN=admin"}, "may 0");
    expect(bed, (struct wish){.name = "a, DNS:admin.example"}, "may 0");
    expect(bed, (struct wish){.name = "admin\n"}, "may 0");
    expect(bed, (struct wish){.name = " admin"}, "may 0");
}

static void a_name_with_a_nul_fits_no_rule(void **state)
{
    struct cert_bed *bed = *state;

    access_bed_rule(bed->access, "cert:admin work jobs\ncert:admin* work jobs\n"
                                 "cert:*.example observe jobs\n");
    expect(bed, (struct wish){.cn_too = SLICE("admin\0.evil.example")}, "may 0");
    expect(bed, (struct wish){.email = SLICE("admin\0@evil.example")}, "may 0");
}

static void the_log_names_the_subject(void **state)
{
    struct cert_bed *bed = *state;

    access_bed_rule(bed->access, "any observe jobs\n");
    expect(bed, (struct wish){.name = "client"}, "may 4");
    access_bed_expect_log(bed->access, " caller conn=1 cert=CN=client,O=Tandem tests \n");
}

static void a_certificate_counts_again_when_the_rules_have_changed(void **state)
{
    struct cert_bed *bed = *state;
    struct tls_link link;

    access_bed_rule(bed->access, "cert:client work jobs\n");
    link = connect_as(bed, &(struct wish){.name = "client", .issuer = &bed->tls.authority});
    ask(bed, &link, "may", "may 2");
    access_bed_rule(bed->access, "cert:client observe jobs\n");
    bed_turns(&bed->access->bed, 2);
    ask(bed, &link, "may", "may 4");
    ask(bed, &link, "itself", "known 4");
    tls_link_close(&link);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, cert_setup, cert_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_name_of_a_certificate_may_be_in_a_rule),
        TEST(rules_of_certificate_and_user_add_up),
        TEST(a_client_without_a_certificate_has_no_name),
        TEST(a_name_that_contains_another_does_not_match_it),
        TEST(a_name_with_a_nul_fits_no_rule),
        TEST(the_log_names_the_subject),
        TEST(a_certificate_counts_again_when_the_rules_have_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
