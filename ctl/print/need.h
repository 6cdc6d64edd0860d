/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_NEED_H
#define TANDEM_CTL_PRINT_NEED_H

// Memory allocation for a short-lived program: if memory is exhausted, it prints an error and exits
// with status 1. Functions registered with atexit() restore the terminal.

#include <stdio.h>
#include <stdlib.h>

// Returns `memory`, which is not NULL. Exits if it is.
static inline void *need(void *memory)
{
    if (!memory) {
        (void)fputs("tandemctl: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

#endif
