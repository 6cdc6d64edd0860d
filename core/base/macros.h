/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_MACROS_H
#define TANDEM_CORE_BASE_MACROS_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

// The compiler warns if the result is ignored.
#define MUST_USE __attribute__((warn_unused_result))

// The struct in which `field`, its member named `member`, is embedded.
#define container_of(field, type, member) ((type *)(void *)((char *)(field)-offsetof(type, member)))

// Prefetches the object for a later use. Does not read it: NULL is allowed. Compilers treat a
// function that only prefetches as empty and drop its calls; the empty statement prevents that.
#define PREFETCH(pointer)                                                                          \
    do {                                                                                           \
        __builtin_prefetch(pointer);                                                               \
        __asm__ volatile("");                                                                      \
    } while (0)

// Not inlined: saved registers and stack space of a rare, long path do not slow down the common
// path. Each use states its gain, by tests/budget.
#define APART __attribute__((noinline))

// All functions that it calls are inlined into it, so that constant arguments propagate.
#define FLAT __attribute__((flatten))

// An assertion finds bugs in this program, never bad input, and is enabled in releases: a broker
// with inconsistent state must not continue to assign jobs.
#define ENSURE(condition) ((condition) ? (void)0 : ensure_failed(#condition, __FILE__, __LINE__))

#define UNREACHABLE() ensure_failed("unreachable", __FILE__, __LINE__)

_Noreturn static inline void ensure_failed(const char *what, const char *file, int line)
{
    (void)fprintf(stderr, "tandemd: %s:%d: %s does not hold\n", file, line, what);
    abort();
}

#endif
