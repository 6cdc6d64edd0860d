/* SPDX-License-Identifier: MIT */
#include "push/reason.h"

#include <stdarg.h>
#include <stdio.h>

bool push_reason_set(struct push_reason *why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}
