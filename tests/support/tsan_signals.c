/* SPDX-License-Identifier: MIT */
// ThreadSanitizer makes what it keeps of a thread's signals at the thread's first call that may
// block, and loses a signal that comes meanwhile: a program that is stopped as soon as it has
// started runs for ever. So that call is made before anybody knows of the process.
#include <poll.h>
#include <stddef.h>

__attribute__((constructor)) static void make_first_blocking_call(void)
{
    (void)poll(NULL, 0, 0);
}
