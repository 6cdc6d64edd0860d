/* SPDX-License-Identifier: MIT */
#include "server/process/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void reason_set(struct reason *reason, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    // cppcheck-suppress ctuuninitvar ; it is only written to
    (void)vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
}

void reason_wrap(struct reason *reason, const char *format, ...)
{
    struct reason inner = *reason;
    size_t len;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
    len = strlen(reason->text);
    (void)snprintf(reason->text + len, sizeof reason->text - len, "%s", inner.text);
}
