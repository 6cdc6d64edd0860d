/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_LIVE_BYTES_H
#define TANDEM_TESTS_LIVE_BYTES_H

// How much memory is in use. A test that is linked with LIVE_BYTES (tests/CMakeLists.txt) has its
// calls of malloc, calloc, realloc, free, mmap and munmap routed through here; those inside shared
// libraries are not.

#include <stddef.h>

// Bytes that were allocated or mapped and were not given back.
size_t live_bytes(void);

#endif
