/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <openssl/bio.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

// The identity in a certificate: texts for people, and a list of names for access rules. The list
// is made from the certificate's structure and not by parsing the texts, so that a name cannot
// contain a delimiter that makes it look like two.

// The list is made in two passes over the names, of which the first measures. The texts follow the
// slices in one block.
struct name_list {
    struct slice *slices; // NULL in the first pass
    char *end;            // of the texts so far
    size_t count;
    size_t bytes;
    size_t count_most; // as measured; a name that could not be decoded then is left out
    size_t bytes_most;
};

// Skips a name with a NUL, which was made to deceive readers that stop at the NUL.
static void name_list_add(struct name_list *list, struct slice name)
{
    if (name.len == 0 || memchr(name.ptr, '\0', name.len)) {
        return;
    }
    if (list->slices) {
        if (list->count == list->count_most || name.len > list->bytes_most - list->bytes) {
            return;
        }
        memcpy(list->end, name.ptr, name.len);
        list->slices[list->count] = slice_of(list->end, name.len);
        list->end += name.len;
    }
    list->count++;
    list->bytes += name.len;
}

static void name_list_add_text(struct name_list *list, const ASN1_STRING *text)
{
    name_list_add(list, slice_of((const char *)ASN1_STRING_get0_data(text),
                                 (size_t)ASN1_STRING_length(text)));
}

static void name_list_add_address(struct name_list *list, const ASN1_OCTET_STRING *address)
{
    int len = ASN1_STRING_length(address);
    char text[INET6_ADDRSTRLEN];

    if ((len == 4 || len == 16) && inet_ntop(len == 4 ? AF_INET : AF_INET6,
                                             ASN1_STRING_get0_data(address), text, sizeof text)) {
        name_list_add(list, slice_str(text));
    }
}

// Skips a name in an encoding that is not known.
static void name_list_add_common_name(struct name_list *list, const ASN1_STRING *encoded)
{
    unsigned char *text = NULL;
    int len = ASN1_STRING_to_UTF8(&text, encoded);

    if (len > 0) {
        name_list_add(list, slice_of((const char *)text, (size_t)len));
    }
    OPENSSL_free(text);
}

static void name_list_add_alt_name(struct name_list *list, const GENERAL_NAME *name)
{
    switch (name->type) {
    case GEN_DNS:
        name_list_add_text(list, name->d.dNSName);
        return;
    case GEN_EMAIL:
        name_list_add_text(list, name->d.rfc822Name);
        return;
    case GEN_URI:
        name_list_add_text(list, name->d.uniformResourceIdentifier);
        return;
    case GEN_IPADD:
        name_list_add_address(list, name->d.iPAddress);
        return;
    default:
        return;
    }
}

static void name_list_add_all(struct name_list *list, const X509 *certificate,
                              const GENERAL_NAMES *alt_names)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);

    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) {
        name_list_add_common_name(list, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    }
    for (int i = 0; i < sk_GENERAL_NAME_num(alt_names); i++) {
        name_list_add_alt_name(list, sk_GENERAL_NAME_value(alt_names, i));
    }
}

static bool name_list_take(struct peer_identity *identity, const X509 *certificate)
{
    GENERAL_NAMES *alt_names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    struct name_list measured = {.slices = NULL};
    struct name_list list = {.slices = NULL};

    name_list_add_all(&measured, certificate, alt_names);
    list.count_most = measured.count;
    list.bytes_most = measured.bytes;
    // One byte more, so that an empty list is not NULL.
    list.slices = malloc(measured.count * sizeof *list.slices + measured.bytes + 1);
    if (list.slices) {
        list.end = (char *)(list.slices + measured.count);
        name_list_add_all(&list, certificate, alt_names);
    }
    GENERAL_NAMES_free(alt_names);
    identity->names = list.slices;
    identity->name_count = list.count;
    return list.slices != NULL;
}

// The escapes of RFC 2253, so that a name cannot contain a delimiter.
#define ESCAPES (ASN1_STRFLGS_RFC2253 & ~ASN1_STRFLGS_DUMP_ALL & ~ASN1_STRFLGS_DUMP_UNKNOWN)

static bool tls_print_address(BIO *out, const ASN1_OCTET_STRING *address)
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

static bool tls_print_text(BIO *out, const char *kind, const ASN1_STRING *text)
{
    return BIO_printf(out, ", %s:", kind) > 0 && ASN1_STRING_print_ex(out, text, ESCAPES) >= 0;
}

// Prints a name after a comma. Other kinds of names are skipped.
static bool tls_print_alt_name(BIO *out, const GENERAL_NAME *name)
{
    switch (name->type) {
    case GEN_DNS:
        return tls_print_text(out, "DNS", name->d.dNSName);
    case GEN_EMAIL:
        return tls_print_text(out, "email", name->d.rfc822Name);
    case GEN_URI:
        return tls_print_text(out, "URI", name->d.uniformResourceIdentifier);
    case GEN_IPADD:
        return tls_print_address(out, name->d.iPAddress);
    default:
        return true;
    }
}

static bool tls_print_alt_names(BIO *out, const X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool good = true;

    for (int i = 0; good && i < sk_GENERAL_NAME_num(names); i++) {
        good = tls_print_alt_name(out, sk_GENERAL_NAME_value(names, i));
    }
    GENERAL_NAMES_free(names);
    return good;
}

static bool tls_print_subject(BIO *out, const X509 *certificate)
{
    return X509_NAME_print_ex(out, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0;
}

// Returns the printed text after the first `skip` bytes, for free(). NULL with the reason in `why`.
static char *tls_print_names(const X509 *certificate, bool (*printer)(BIO *, const X509 *),
                             size_t skip, struct error_text *why)
{
    BIO *out = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    char *text = NULL;
    size_t len = 0;

    error_set(why, "out of memory");
    if (out && printer(out, certificate)) {
        long all = BIO_get_mem_data(out, &bytes);

        len = all > (long)skip ? (size_t)all - skip : 0;
        if (len > TLS_NAMES_MAX) {
            error_set(why, "the names in the certificate are too long");
        } else {
            text = calloc(1, len + 1);
        }
    }
    if (text && len > 0) {
        memcpy(text, bytes + skip, len);
    }
    (void)BIO_free(out);
    return text;
}

bool tls_names_take(struct peer_identity *identity, const X509 *certificate, struct error_text *why)
{
    identity->subject = tls_print_names(certificate, tls_print_subject, 0, why);
    if (identity->subject) {
        identity->alt_names = tls_print_names(certificate, tls_print_alt_names, strlen(", "), why);
    }
    if (!identity->alt_names) {
        return false;
    }
    if (!name_list_take(identity, certificate)) {
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
