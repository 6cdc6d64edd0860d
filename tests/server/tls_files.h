/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_TLS_FILES_H
#define TANDEM_TESTS_SERVER_TLS_FILES_H

// Certificates and keys in a directory of their own, made when a test wants them: nothing that is
// kept can expire. A failure ends the process.

#include "core/base/slice.h"

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdbool.h>

struct pair {
    EVP_PKEY *key;
    X509 *certificate;
};

// The parameters of a certificate. Zeroes stand for: signed by itself, no alternative names, good
// from yesterday until tomorrow.
struct wish {
    const char *name;    // its CN
    struct slice cn_too; // another CN, taken as it is
    const struct pair *issuer;
    const char *alt_names; // as openssl.cnf has them, `DNS:a,email:b`
    struct slice email;    // an alternative name, taken as it is
    bool is_authority;
    long good_for; // seconds from now, negative for one that has expired
};

struct pair pair_make(const struct wish *wish);
void pair_free(struct pair *pair);

enum { FOLDER_ROOM = 64 };

// A new directory under /tmp.
void folder_make(char folder[FOLDER_ROOM]);

// Removes it with its files.
void folder_remove(const char *folder);

// Writes a file in the directory, created again with `mode`. Returns its path, for free().
char *folder_write(const char *folder, const char *name, unsigned mode, const void *bytes,
                   size_t len);
// The same for a certificate in PEM, and another behind it where that is not NULL.
char *folder_write_certificates(const char *folder, const char *name, const X509 *first,
                                const X509 *second);
// The same for a key; `password` NULL: it is not encrypted.
char *folder_write_key(const char *folder, const char *name, EVP_PKEY *key, const char *password);

#endif
