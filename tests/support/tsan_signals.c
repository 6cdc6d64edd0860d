/* SPDX-License-Identifier: MIT */
// ThreadSanitizer allocates its state of a thread's signals at the thread's first call that may
// block, and loses a signal that arrives meanwhile: a program that is stopped right after its start
// would run for ever. So this call is made before any other process knows of this one.
#include <poll.h>
#include <stddef.h>

__attribute__((constructor)) static void make_first_blocking_call(void)
{
    (void)poll(NULL, 0, 0);
}
