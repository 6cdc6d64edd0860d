/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_MACROS_H
#define TANDEM_CORE_BASE_MACROS_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

// The compiler warns where the result is dropped.
#define MUST_USE __attribute__((warn_unused_result))

// The struct that `field`, its member named `member`, is embedded in.
#define container_of(field, type, member) ((type *)(void *)((char *)(field)-offsetof(type, member)))

// Begins to fetch what the pointer points at, for a use that is still some way off. Reads nothing:
// NULL is allowed. The empty statement keeps a function that does nothing else: compilers take it
// for one that does nothing, and leave out the call.
#define PREFETCH(pointer)                                                                          \
    do {                                                                                           \
        __builtin_prefetch(pointer);                                                               \
        __asm__ volatile("");                                                                      \
    } while (0)

// Compiled apart from where it is called: what a rare and long way needs (registers saved, room on
// the stack) is no burden to the common way past it. Each use says what it is worth, by
// tests/budget.
#define APART __attribute__((noinline))

// All that the function calls is compiled into it: its constants reach far.
#define FLAT __attribute__((flatten))

// An assertion means a bug in us, never bad input, and stays on in a release: a broker that knows
// its books to be wrong must not go on handing out jobs.
#define ENSURE(condition) ((condition) ? (void)0 : ensure_failed(#condition, __FILE__, __LINE__))

#define UNREACHABLE() ensure_failed("unreachable", __FILE__, __LINE__)

_Noreturn static inline void ensure_failed(const char *what, const char *file, int line)
{
    (void)fprintf(stderr, "tandemd: %s:%d: %s does not hold\n", file, line, what);
    abort();
}

#endif
