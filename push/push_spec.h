/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_PUSH_SPEC_H
#define TANDEM_PUSH_PUSH_SPEC_H

// The checked settings of an endpoint. Its files have been read, so that no file is read while jobs
// are sent.

#include "push/push.h"
#include "push/signature.h"

struct x509_store_st; // OpenSSL's X509_STORE

#define SPEC_FINGERPRINT_SIZE 32

struct push_spec {
    char *name; // of the section
    char *url;
    char *origin; // the part of the URL that may be shown: scheme, host and port
    unsigned connections;
    nsec_t timeout_for;
    size_t max_answer;
    bool may_be_private;
    struct secrets secrets;
    // The certificates by which that of the endpoint is verified; NULL: the URL is not https. They
    // are read once and shared by all connections, because reading them takes milliseconds.
    struct x509_store_st *authorities;
    unsigned char fingerprint[SPEC_FINGERPRINT_SIZE]; // of the settings and the files
};

// NULL, with `*why`: the settings are invalid, or there is no memory.
struct push_spec *push_spec_new(const struct push_settings *settings,
                                struct error_text *why) MUST_USE;

// NULL is allowed.
void push_spec_free(struct push_spec *spec);

// Whether both have the same settings and files.
bool push_spec_equal(const struct push_spec *a, const struct push_spec *b);

#endif
