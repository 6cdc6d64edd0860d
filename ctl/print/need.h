/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_NEED_H
#define TANDEM_CTL_PRINT_NEED_H

// Memory of a program that does one thing and ends: where there is none, it says so and exits with
// 1. What it has set on the terminal is put back by what it registered with atexit().

#include <stdio.h>
#include <stdlib.h>

// The pointer, which is not NULL.
static inline void *need(void *memory)
{
    if (!memory) {
        (void)fputs("tandemctl: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

#endif
