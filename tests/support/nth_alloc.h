/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_NTH_ALLOC_H
#define TANDEM_TESTS_NTH_ALLOC_H

// Makes one allocation fail. A test that is linked with NTH_ALLOC (tests/CMakeLists.txt) has its
// calls of malloc, calloc, realloc and aligned_alloc routed through here; those inside shared
// libraries are not. To fail every allocation of something once: repeat it with n = 1, 2, 3... from
// the same start until nth_alloc_count() says that fewer than n were made.

#include <stddef.h>

// The n-th allocation from now on returns NULL, and only that one; 0 stands for none. Starts the
// count anew.
void nth_alloc_fail(size_t n);

// The n-th and all that follow.
void nth_alloc_fail_from(size_t n);

// How many allocations were asked for since one of these was called last.
size_t nth_alloc_count(void);

#endif
