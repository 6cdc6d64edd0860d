/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include "core/base/macros.h"

const char *status_text(enum status status)
{
    switch (status) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        STATUS_LIST(X)
#undef X
    }
    UNREACHABLE();
}
