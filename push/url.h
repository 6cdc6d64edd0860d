/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_URL_H
#define TANDEM_PUSH_URL_H

// The address of an endpoint.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// Whether jobs can be sent there: it is http or https, without user or password, and its host, if
// it is written as an address, is none that is special (special_address.h), unless
// `may_be_private`. Sets `*origin` to a text of its own, scheme, host and port, and `*secure` to
// whether it is https. False with the reason.
bool push_url_check(const char *url, bool may_be_private, char **origin, bool *secure,
                    struct error_text *why) MUST_USE;

#endif
