/* SPDX-License-Identifier: MIT */
#include "server/process/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void complaint_set(struct complaint *complaint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    // cppcheck-suppress ctuuninitvar ; it is only written to
    (void)vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
}

void complaint_wrap(struct complaint *complaint, const char *format, ...)
{
    struct complaint inner = *complaint;
    size_t len;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
    len = strlen(complaint->text);
    (void)snprintf(complaint->text + len, sizeof complaint->text - len, "%s", inner.text);
}
