/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_OPENAPI_H
#define TANDEM_ADMIN_OPENAPI_H

// openapi.json, as the build puts it into the program.

#include <stddef.h>

extern const unsigned char admin_openapi[];
extern const size_t admin_openapi_len;

#endif
