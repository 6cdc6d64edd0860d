/* SPDX-License-Identifier: MIT */
#include "tests/support/nth_alloc.h"

#include <stdbool.h>

// Names that the linker's --wrap makes: calls of f go to __wrap_f, and __real_f is the former f.
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static size_t made;
static size_t failing;
static bool lasting;

void nth_alloc_fail(size_t n)
{
    made = 0;
    failing = n;
    lasting = false;
}

void nth_alloc_fail_from(size_t n)
{
    nth_alloc_fail(n);
    lasting = true;
}

size_t nth_alloc_count(void)
{
    return made;
}

static bool fails_now(void)
{
    made++;
    return made == failing || (lasting && made > failing);
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails_now() ? NULL : __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, size);
}
