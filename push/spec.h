/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SPEC_H
#define TANDEM_PUSH_SPEC_H

// What a section says of its endpoint, checked, with its files read: from then on nothing of it
// can be wrong, and no file is read while jobs are sent.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/error_text.h"
#include "push/secrets.h"
#include "push/settings.h"

#include <stdbool.h>
#include <stddef.h>

struct x509_store_st; // OpenSSL's X509_STORE

#define SPEC_FINGERPRINT_SIZE 32

struct push_spec {
    char *name;   // of the section
    char *url;    //
    char *origin; // the part of it that may be shown: scheme, host and port
    unsigned connections;
    nsec_t timeout_for;
    size_t max_answer;
    bool may_be_private;
    struct secrets secrets;
    struct x509_store_st *authorities; // whose certificates are good; NULL: it is no https
    unsigned char fingerprint[SPEC_FINGERPRINT_SIZE]; // of the settings, and of what is in files
};

// NULL with the reason.
struct push_spec *push_spec_new(const struct push_settings *settings,
                                struct error_text *why) MUST_USE;

// NULL is allowed.
void push_spec_free(struct push_spec *spec);

// Whether an endpoint of the one is as well one of the other.
bool push_spec_equal(const struct push_spec *a, const struct push_spec *b);

#endif
