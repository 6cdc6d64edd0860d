/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_SERVER_CMOCKA_H
#define TANDEM_TESTS_SERVER_SERVER_CMOCKA_H

// cmocka wants these before itself, in this order.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#endif
