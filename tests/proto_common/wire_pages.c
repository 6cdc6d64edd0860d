/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_pages.h"

#include "core/base/macros.h"

#include <sys/mman.h>

#define PAGE ((size_t)4096)

static size_t whole_pages(size_t len)
{
    return (len + PAGE - 1) / PAGE * PAGE;
}

struct wire_pages wire_pages_map(size_t len)
{
    size_t usable = whole_pages(len);
    char *start = mmap(NULL, usable + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    ENSURE(start != MAP_FAILED);
    ENSURE(mprotect(start + usable, PAGE, PROT_NONE) == 0);
    return (struct wire_pages){start, len};
}

void wire_pages_unmap(struct wire_pages pages)
{
    ENSURE(munmap(pages.start, whole_pages(pages.len) + PAGE) == 0);
}
