/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_ERROR_TEXT_H
#define TANDEM_CORE_BASE_ERROR_TEXT_H

// The reason of a failure, for the operator: a wrong setting, an address in use, a damaged file.
// The function that fails sets the text, its callers prefix their context (file, line, key), and
// the outermost one prints or logs it once. It never contains a secret.

#include <stdbool.h>

struct error_text {
    char text[1024]; // longer texts are truncated
};

// Sets the text, as printf() does. Returns false, so that `return error_set(...)` fails.
__attribute__((format(printf, 2, 3))) bool error_set(struct error_text *error, const char *format,
                                                     ...);

// Prefixes a text. Returns false.
__attribute__((format(printf, 2, 3))) bool error_prefix(struct error_text *error,
                                                        const char *format, ...);

#endif
