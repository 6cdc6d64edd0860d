/* SPDX-License-Identifier: MIT */
#include "tests/support/live_bytes.h"

#include <malloc.h>
#include <sys/mman.h>

// Names that the linker's --wrap makes: calls of f go to __wrap_f, and __real_f is the former f.
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__real_mmap(void *wanted, size_t len, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *map, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
void *__wrap_mmap(void *wanted, size_t len, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *map, size_t len);

static size_t live;

size_t live_bytes(void)
{
    return live;
}

static void *count(void *block)
{
    live += block ? malloc_usable_size(block) : 0;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return count(__real_malloc(size));
}

void *__wrap_calloc(size_t members, size_t size)
{
    return count(__real_calloc(members, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    size_t before = block ? malloc_usable_size(block) : 0;
    void *moved = __real_realloc(block, size);

    live -= moved ? before : 0;
    return count(moved);
}

void __wrap_free(void *block)
{
    live -= block ? malloc_usable_size(block) : 0;
    __real_free(block);
}

void *__wrap_mmap(void *wanted, size_t len, int protection, int flags, int fd, off_t offset)
{
    void *map = __real_mmap(wanted, len, protection, flags, fd, offset);

    live += map != MAP_FAILED ? len : 0;
    return map;
}

int __wrap_munmap(void *map, size_t len)
{
    int failed = __real_munmap(map, len);

    live -= failed ? 0 : len;
    return failed;
}
