/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_PROMPT_H
#define TANDEM_CTL_PRINT_PROMPT_H

// Asks a question on standard error and reads the answer from standard input.

#include <stdbool.h>

// Whether the answer is yes. Any other answer and the end of the input mean no.
bool prompt_confirms(const char *question);

#endif
