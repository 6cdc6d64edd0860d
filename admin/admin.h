/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_ADMIN_H
#define TANDEM_ADMIN_ADMIN_H

// The front-end for operators: metrics, an API and a web page over HTTP. ADMIN.md in this folder
// describes it, and openapi.json the API. Its options are struct admin_options.

#include "proto_common/frontend.h"

extern const struct frontend admin_frontend;

#endif
