/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_ADMIN_OPTIONS_H
#define TANDEM_ADMIN_REQUEST_ADMIN_OPTIONS_H

// The section [admin] of the configuration, without `listen`.

#include "http1/http1_options.h"

#include <stdint.h>

struct admin_options {
    union {
        struct {
            HTTP1_OPTION_FIELDS
        };
        struct http1_options http1;
    };
    int64_t max_series_queues; // queues with metrics of their own
    char *metrics_names;       // exporters whose metric names are written, too
};

#endif
