/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FIELD_NAME_H
#define TANDEM_PROTO_COMMON_FIELD_NAME_H

// Names of queues and keys as values of HTTP fields: visible ASCII except % is unchanged, and other
// bytes are written as %XX.

#include "core/base/slice.h"

// Writes at most three bytes for each byte of the name, without a NUL. Returns the end.
char *field_name_write(struct slice name, char *to);

#endif
