/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_NTH_ALLOC_H
#define TANDEM_TESTS_NTH_ALLOC_H

// Makes one allocation fail. A test that is linked with NTH_ALLOC (tests/CMakeLists.txt) has its
// calls of malloc, calloc, realloc and aligned_alloc routed through here; those inside shared
// libraries are not. To fail each allocation of an operation once, repeat it with n = 1, 2, 3...
// from the same start until nth_alloc_count() returns less than n.

#include <stddef.h>

// The n-th allocation from now on returns NULL, and only that one; 0 stands for none. Resets the
// count.
void nth_alloc_fail(size_t n);

// The n-th allocation and all later ones return NULL.
void nth_alloc_fail_from(size_t n);

// The number of allocations since the last call of one of these functions.
size_t nth_alloc_count(void);

#endif
