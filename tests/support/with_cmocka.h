/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SUPPORT_WITH_CMOCKA_H
#define TANDEM_TESTS_SUPPORT_WITH_CMOCKA_H

// cmocka, version 1 or 2. It wants these before itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

// Version 2 has a macro without arguments of that name. Its ranges of unsigned numbers convert them
// to signed ones, about which the compiler warns.
#undef stop
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range(value, least, most)                                                        \
    _assert_uint_in_range((uintmax_t)(value), (uintmax_t)(least), (uintmax_t)(most), __FILE__,     \
                          __LINE__)
#endif

#endif
