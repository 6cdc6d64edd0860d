/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

// As RFC 2253 has it, so that nothing in a name can pass for the end of it, or for another.
#define ESCAPES (ASN1_STRFLGS_RFC2253 & ~ASN1_STRFLGS_DUMP_ALL & ~ASN1_STRFLGS_DUMP_UNKNOWN)

static bool print_address(BIO *out, const ASN1_OCTET_STRING *address)
{
    int len = ASN1_STRING_length(address);
    char text[INET6_ADDRSTRLEN];

    if (len != 4 && len != 16) {
        return true;
    }
    return inet_ntop(len == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text,
                     sizeof text) &&
           BIO_printf(out, ", IP Address:%s", text) > 0;
}

static bool print_text(BIO *out, const char *kind, const ASN1_STRING *text)
{
    return BIO_printf(out, ", %s:", kind) > 0 && ASN1_STRING_print_ex(out, text, ESCAPES) >= 0;
}

// Each behind a comma. Kinds of names that are none of a program or a person are left out.
static bool print_name(BIO *out, const GENERAL_NAME *name)
{
    switch (name->type) {
    case GEN_DNS:
        return print_text(out, "DNS", name->d.dNSName);
    case GEN_EMAIL:
        return print_text(out, "email", name->d.rfc822Name);
    case GEN_URI:
        return print_text(out, "URI", name->d.uniformResourceIdentifier);
    case GEN_IPADD:
        return print_address(out, name->d.iPAddress);
    default:
        return true;
    }
}

static bool print_alt_names(BIO *out, const X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool good = true;

    for (int i = 0; good && i < sk_GENERAL_NAME_num(names); i++) {
        good = print_name(out, sk_GENERAL_NAME_value(names, i));
    }
    GENERAL_NAMES_free(names);
    return good;
}

static bool print_subject(BIO *out, const X509 *certificate)
{
    return X509_NAME_print_ex(out, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0;
}

// What was printed behind the first `skip` bytes, to be freed. NULL with the reason in `why`.
static char *take_text(BIO *out, size_t skip, struct error_text *why)
{
    char *bytes;
    long all = BIO_get_mem_data(out, &bytes);
    size_t len = all > (long)skip ? (size_t)all - skip : 0;
    char *text = NULL;

    if (len > TLS_NAMES_MAX) {
        error_set(why, "the names in the certificate are too long");
        return NULL;
    }
    text = calloc(1, len + 1);
    if (!text) {
        error_set(why, "out of memory");
    } else if (len > 0) {
        memcpy(text, bytes + skip, len);
    }
    return text;
}

static char *print(const X509 *certificate, bool (*printer)(BIO *, const X509 *), size_t skip,
                   struct error_text *why)
{
    BIO *out = BIO_new(BIO_s_mem());
    char *text = NULL;

    if (out && printer(out, certificate)) {
        text = take_text(out, skip, why);
    } else {
        error_set(why, "out of memory");
    }
    (void)BIO_free(out);
    return text;
}

bool tls_names_take(struct peer_identity *identity, const X509 *certificate, struct error_text *why)
{
    identity->subject = print(certificate, print_subject, 0, why);
    if (identity->subject) {
        identity->alt_names = print(certificate, print_alt_names, strlen(", "), why);
    }
    if (!identity->alt_names) {
        return false;
    }
    if (!tls_name_list_take(identity, certificate)) {
        return error_set(why, "out of memory");
    }
    return true;
}

void tls_names_free(struct peer_identity *identity)
{
    free((char *)(uintptr_t)identity->subject);
    free((char *)(uintptr_t)identity->alt_names);
    free((struct slice *)(uintptr_t)identity->names);
    *identity = (struct peer_identity){.subject = NULL};
}
