/* SPDX-License-Identifier: MIT */
#include "push/authorities.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdbool.h>

// A certificate in it is trusted, whether it has signed itself or not.
static X509_STORE *store_new(void)
{
    X509_STORE *store = X509_STORE_new();

    if (store && X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) != 1) {
        X509_STORE_free(store);
        store = NULL;
    }
    return store;
}

struct x509_store_st *authorities_of_system(struct error_text *why)
{
    X509_STORE *store = store_new();

    if (store && X509_STORE_set_default_paths(store) != 1) {
        X509_STORE_free(store);
        store = NULL;
    }
    if (!store) {
        (void)error_set(why, "push: the system's certificates cannot be used");
    }
    ERR_clear_error();
    return store;
}

// How many there are; 0 as well where one cannot be read.
static unsigned read_all(X509_STORE *store, BIO *text)
{
    unsigned count = 0;
    X509 *certificate;
    bool good = true;

    while (good && (certificate = PEM_read_bio_X509(text, NULL, NULL, NULL))) {
        good = X509_STORE_add_cert(store, certificate) == 1;
        X509_free(certificate);
        count++;
    }
    // The end of the text looks to the library like a line that is missing.
    good = good && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    return good ? count : 0;
}

struct x509_store_st *authorities_read(struct slice text, struct error_text *why)
{
    X509_STORE *store = store_new();
    BIO *bio = text.len < INT_MAX ? BIO_new_mem_buf(text.ptr, (int)text.len) : NULL;

    if (!store || !bio || read_all(store, bio) == 0) {
        (void)error_set(why, "push_ca: no certificates in PEM that can be read");
        X509_STORE_free(store);
        store = NULL;
    }
    BIO_free(bio);
    ERR_clear_error();
    return store;
}
