/* SPDX-License-Identifier: MIT */
#include "tests/server/tls_files.h"

#include "core/base/macros.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY = 24 * 60 * 60 };

static void add_extension(X509 *certificate, int kind, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);

    ENSURE(extension);
    ENSURE(X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static void set_name(X509 *certificate, const char *name, struct slice too)
{
    X509_NAME *subject = X509_get_subject_name(certificate);

    ENSURE(X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8,
                                      (const unsigned char *)"Tandem tests", -1, -1, 0) == 1);
    ENSURE(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1,
                                      -1, 0) == 1);
    ENSURE(too.len == 0 ||
           X509_NAME_add_entry_by_txt(subject, "CN", V_ASN1_UTF8STRING,
                                      (const unsigned char *)too.ptr, (int)too.len, -1, 0) == 1);
}

static void add_email(X509 *certificate, struct slice text)
{
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_IA5STRING *email = ASN1_IA5STRING_new();

    ENSURE(ASN1_STRING_set(email, text.ptr, (int)text.len) == 1);
    GENERAL_NAME_set0_value(name, GEN_EMAIL, email);
    ENSURE(sk_GENERAL_NAME_push(names, name) > 0);
    ENSURE(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1);
    GENERAL_NAMES_free(names);
}

struct pair pair_make(const struct wish *wish)
{
    static long serial;
    struct pair pair = {.key = EVP_EC_gen("P-256"), .certificate = X509_new()};
    const struct pair *issuer = wish->issuer ? wish->issuer : &pair;

    ENSURE(pair.key);
    ENSURE(pair.certificate);
    ENSURE(X509_set_version(pair.certificate, X509_VERSION_3) == 1);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(pair.certificate), ++serial);
    (void)X509_gmtime_adj(X509_getm_notBefore(pair.certificate), -DAY);
    (void)X509_gmtime_adj(X509_getm_notAfter(pair.certificate),
                          wish->good_for ? wish->good_for : DAY);
    set_name(pair.certificate, wish->name, wish->cn_too);
    ENSURE(X509_set_issuer_name(pair.certificate, X509_get_subject_name(issuer->certificate)) == 1);
    ENSURE(X509_set_pubkey(pair.certificate, pair.key) == 1);
    if (wish->is_authority) {
        add_extension(pair.certificate, NID_basic_constraints, "critical,CA:TRUE");
    }
    if (wish->alt_names) {
        add_extension(pair.certificate, NID_subject_alt_name, wish->alt_names);
    }
    if (wish->email.len > 0) {
        add_email(pair.certificate, wish->email);
    }
    ENSURE(X509_sign(pair.certificate, issuer->key, EVP_sha256()) > 0);
    return pair;
}

void pair_free(struct pair *pair)
{
    EVP_PKEY_free(pair->key);
    X509_free(pair->certificate);
    *pair = (struct pair){.key = NULL};
}

void folder_make(char folder[FOLDER_ROOM])
{
    (void)snprintf(folder, FOLDER_ROOM, "/tmp/tandem-tls-XXXXXX");
    ENSURE(mkdtemp(folder));
}

void folder_remove(const char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;

    while (listing && (entry = readdir(listing))) {
        (void)unlinkat(dirfd(listing), entry->d_name, 0);
    }
    if (listing) {
        (void)closedir(listing);
    }
    (void)rmdir(folder);
}

char *folder_write(const char *folder, const char *name, unsigned mode, const void *bytes,
                   size_t len)
{
    size_t room = strlen(folder) + 1 + strlen(name) + 1;
    char *path = malloc(room);
    int fd;

    ENSURE(path);
    (void)snprintf(path, room, "%s/%s", folder, name);
    (void)unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ENSURE(fd >= 0);
    ENSURE(write(fd, bytes, len) == (ssize_t)len);
    ENSURE(fchmod(fd, (mode_t)mode) == 0);
    (void)close(fd);
    return path;
}

static char *write_memory(const char *folder, const char *name, unsigned mode, BIO *memory)
{
    char *bytes;
    long len = BIO_get_mem_data(memory, &bytes);
    char *path = folder_write(folder, name, mode, bytes, (size_t)len);

    (void)BIO_free(memory);
    return path;
}

char *folder_write_certificates(const char *folder, const char *name, const X509 *first,
                                const X509 *second)
{
    BIO *memory = BIO_new(BIO_s_mem());

    ENSURE(PEM_write_bio_X509(memory, first) == 1);
    ENSURE(!second || PEM_write_bio_X509(memory, second) == 1);
    return write_memory(folder, name, 0644, memory);
}

char *folder_write_key(const char *folder, const char *name, EVP_PKEY *key, const char *password)
{
    BIO *memory = BIO_new(BIO_s_mem());

    ENSURE(PEM_write_bio_PKCS8PrivateKey(memory, key, password ? EVP_aes_128_cbc() : NULL, password,
                                         password ? (int)strlen(password) : 0, NULL, NULL) == 1);
    return write_memory(folder, name, 0600, memory);
}
