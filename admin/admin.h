/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_ADMIN_H
#define TANDEM_ADMIN_ADMIN_H

// What operators see of the broker, and do to it, over HTTP: metrics, an API and a page. A
// front-end like the others. ADMIN.md beside this file tells what there is, and openapi.json what
// the API offers.

#include "proto_common/frontend.h"
#include "http1/options.h"

#include <stdint.h>

// The section [admin] of the configuration, but for `listen`.
struct admin_options {
    union {
        struct {
            HTTP1_OPTION_FIELDS
        };
        struct http1_options http1;
    };
    int64_t max_series_queues; // queues that metrics have by name
    char *metrics_names;       // of which exporters metrics have the names, too
};

extern const struct frontend admin_frontend;

#endif
