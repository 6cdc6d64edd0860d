/* SPDX-License-Identifier: MIT */
#include "server/process/exit_reason.h"

// By enum exit_codes.
static const int exit_codes[][3] = {
    [EXIT_REASON_NONE] = {0, 0, 0},          [EXIT_REASON_USAGE] = {2, 5, 1},
    [EXIT_REASON_JOURNAL] = {1, 10, 1},      [EXIT_REASON_USER_LOOKUP] = {1, 32, 1},
    [EXIT_REASON_USER_UNKNOWN] = {1, 33, 1}, [EXIT_REASON_USER_REFUSED] = {1, 34, 1},
    [EXIT_REASON_ADDRESS] = {1, 111, 1},     [EXIT_REASON_OTHER] = {1, 1, 1},
};

int exit_reason_code(enum exit_reason reason, enum exit_codes whose)
{
    return exit_codes[reason][whose];
}
