/* SPDX-License-Identifier: MIT */
#include "server/config/import_kinds.h"

const struct source_kind *const import_kinds[] = {
    NULL,
};
