/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_LIVE_BYTES_H
#define TANDEM_TESTS_LIVE_BYTES_H

// The amount of memory in use. A test that is linked with LIVE_BYTES (tests/CMakeLists.txt) has its
// calls of malloc, calloc, realloc, free, mmap and munmap routed through here; those inside shared
// libraries are not.

#include <stddef.h>

// The bytes that were allocated or mapped and not freed.
size_t live_bytes(void);

#endif
