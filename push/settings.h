/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_SETTINGS_H
#define TANDEM_PUSH_SETTINGS_H

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stdint.h>

#define PUSH_CONNECTIONS_MAX 256

// The settings of one section whose queues are pushed. Texts are never NULL; an empty one stands
// for a key that is not there.
struct push_settings {
    const char *name;        // of the section: a queue, or a glob of queues
    const char *url;         // where jobs are sent: http or https
    const char *secret;      // push_secret, see secrets.h
    const char *secret_file; // more of them
    const char *ca_file;     // certificates in PEM that vouch for the endpoint; empty: the system's
    nsec_t timeout_for;      // a request takes no longer, its answer included; at least 1 ms
    uint64_t max_answer;     // bytes of a result
    unsigned connections;    // jobs that are sent at a time; 1 to PUSH_CONNECTIONS_MAX
    bool may_be_private;     // the endpoint may have a special address (special_address.h)
};

// Whether an endpoint can be made of it: reads its files. False with the reason.
bool push_settings_check(const struct push_settings *settings, struct error_text *why) MUST_USE;

#endif
