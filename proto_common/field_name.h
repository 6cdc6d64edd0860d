/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_FIELD_NAME_H
#define TANDEM_PROTO_COMMON_FIELD_NAME_H

// Names of queues, and keys, as the value of an HTTP field: visible ASCII as it is, all else as
// %XX, and so is the % itself.

#include "core/base/slice.h"

// At most three bytes for each of the name's; where they end, without a NUL.
char *field_name_write(struct slice name, char *to);

#endif
