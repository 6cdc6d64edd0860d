/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_AUTHORITIES_H
#define TANDEM_PUSH_AUTHORITIES_H

// The certificates by which an endpoint's own is checked. They are read once, and shared by all its
// connections: reading them again for each, as libcurl would, takes milliseconds of the loop.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/base/error_text.h"

struct x509_store_st; // OpenSSL's X509_STORE

// Those that the system trusts. NULL with the reason; to be freed by X509_STORE_free().
struct x509_store_st *authorities_of_system(struct error_text *why) MUST_USE;

// Those of a text in PEM, at least one.
struct x509_store_st *authorities_read(struct slice text, struct error_text *why) MUST_USE;

#endif
