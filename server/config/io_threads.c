/* SPDX-License-Identifier: MIT */
// sched_getaffinity is a GNU function.
#define _GNU_SOURCE
#include "server/config/io_threads.h"

#include "core/base/digits.h"

#include <sched.h>
#include <string.h>

// More than these serve no more: the core's thread is what there is to wait for.
enum { AUTO_LEAST_PROCESSORS = 4, AUTO_MOST = 8 };

unsigned io_threads_auto(unsigned processors)
{
    if (processors < AUTO_LEAST_PROCESSORS) {
        return 0;
    }
    return processors / 2 < AUTO_MOST ? processors / 2 : AUTO_MOST;
}

// Those that the process may use, which may be fewer than the machine has.
static unsigned count_processors(void)
{
    cpu_set_t processors;

    return sched_getaffinity(0, sizeof processors, &processors) == 0
               ? (unsigned)CPU_COUNT(&processors)
               : 1;
}

bool io_threads_parse(const char *text, unsigned *count, struct error_text *why)
{
    uint64_t number;

    if (strcmp(text, "auto") == 0) {
        *count = io_threads_auto(count_processors());
        return true;
    }
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0' ||
        !digits_read(slice_str(text), &number) || number > IO_THREADS_MOST) {
        return error_set(why, "`%s` is neither `auto` nor a number from 0 to %d", text,
                         IO_THREADS_MOST);
    }
    *count = (unsigned)number;
    return true;
}
