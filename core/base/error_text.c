/* SPDX-License-Identifier: MIT */
#include "core/base/error_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error_text *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    // cppcheck-suppress ctuuninitvar ; it is only written to
    (void)vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

bool error_prefix(struct error_text *error, const char *format, ...)
{
    struct error_text inner = *error;
    size_t len;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    len = strlen(error->text);
    (void)snprintf(error->text + len, sizeof error->text - len, "%s", inner.text);
    return false;
}
