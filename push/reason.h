/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_REASON_H
#define TANDEM_PUSH_REASON_H

#include <stdbool.h>

// Why an endpoint cannot be used as a section has it: a text that begins with the key, and has no
// secret in it.
struct push_reason {
    char text[256];
};

// Sets it; returns false.
bool push_reason_set(struct push_reason *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
