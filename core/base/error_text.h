/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_ERROR_TEXT_H
#define TANDEM_CORE_BASE_ERROR_TEXT_H

// Why something failed, in words for the operator: a wrong setting, an address in use, a damaged
// file. The function that fails sets the text, its callers put in front of it what they know (the
// file, the line, the key), and the outermost one prints or logs it once. It never has a secret in
// it.

#include <stdbool.h>

struct error_text {
    char text[1024]; // longer texts are cut
};

// Sets the text, as printf() does. Returns false, so that `return error_set(...)` fails.
__attribute__((format(printf, 2, 3))) bool error_set(struct error_text *error, const char *format,
                                                     ...);

// Puts a text in front of the one that is there. Returns false.
__attribute__((format(printf, 2, 3))) bool error_prefix(struct error_text *error,
                                                        const char *format, ...);

#endif
