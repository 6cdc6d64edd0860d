/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_PROMPT_H
#define TANDEM_CTL_PRINT_PROMPT_H

// A question to a person, on standard error, answered on standard input.

#include <stdbool.h>

// Whether the answer is yes. Anything else, the end of the input, too, is no.
bool prompt_confirms(const char *question);

#endif
