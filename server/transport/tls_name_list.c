/* SPDX-License-Identifier: MIT */

// The names in a certificate one by one, by which rules know its owner. They come from the
// certificate's own structure and not from a text that was made of it: whatever is in a name, it is
// one name.

#include "server/transport/tls_private.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

// How the list is made: the names are gone through twice, first to measure. The texts follow the
// slices in one block.
struct name_list {
    struct slice *slices; // NULL: it is measured
    char *end;            // of the texts so far
    size_t count;
    size_t bytes;
    size_t count_most; // as measured: a name that could not be decoded then is left out
    size_t bytes_most;
};

// One with a NUL in it is none: whoever had it signed counted on somebody who stops reading there.
static void add_name(struct name_list *list, struct slice name)
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

static void add_text(struct name_list *list, const ASN1_STRING *text)
{
    add_name(list,
             slice_of((const char *)ASN1_STRING_get0_data(text), (size_t)ASN1_STRING_length(text)));
}

static void add_address(struct name_list *list, const ASN1_OCTET_STRING *address)
{
    int len = ASN1_STRING_length(address);
    char text[INET6_ADDRSTRLEN];

    if ((len == 4 || len == 16) && inet_ntop(len == 4 ? AF_INET : AF_INET6,
                                             ASN1_STRING_get0_data(address), text, sizeof text)) {
        add_name(list, slice_str(text));
    }
}

// It may be in any of several encodings. What is none of them is no name.
static void add_common_name(struct name_list *list, const ASN1_STRING *encoded)
{
    unsigned char *text = NULL;
    int len = ASN1_STRING_to_UTF8(&text, encoded);

    if (len > 0) {
        add_name(list, slice_of((const char *)text, (size_t)len));
    }
    OPENSSL_free(text);
}

static void add_alt_name(struct name_list *list, const GENERAL_NAME *name)
{
    switch (name->type) {
    case GEN_DNS:
        add_text(list, name->d.dNSName);
        return;
    case GEN_EMAIL:
        add_text(list, name->d.rfc822Name);
        return;
    case GEN_URI:
        add_text(list, name->d.uniformResourceIdentifier);
        return;
    case GEN_IPADD:
        add_address(list, name->d.iPAddress);
        return;
    default:
        return;
    }
}

static void add_all(struct name_list *list, const X509 *certificate, const GENERAL_NAMES *alt_names)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);

    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) {
        add_common_name(list, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    }
    for (int i = 0; i < sk_GENERAL_NAME_num(alt_names); i++) {
        add_alt_name(list, sk_GENERAL_NAME_value(alt_names, i));
    }
}

bool tls_name_list_take(struct peer_identity *identity, const X509 *certificate)
{
    GENERAL_NAMES *alt_names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    struct name_list measured = {.slices = NULL};
    struct name_list list = {.slices = NULL};

    add_all(&measured, certificate, alt_names);
    list.count_most = measured.count;
    list.bytes_most = measured.bytes;
    // One byte more: it is asked for in any case.
    list.slices = malloc(measured.count * sizeof *list.slices + measured.bytes + 1);
    if (list.slices) {
        list.end = (char *)(list.slices + measured.count);
        add_all(&list, certificate, alt_names);
    }
    GENERAL_NAMES_free(alt_names);
    identity->names = list.slices;
    identity->name_count = list.count;
    return list.slices != NULL;
}
