/* SPDX-License-Identifier: MIT */
#include "server/process/exit_reason.h"

static const struct {
    int ours;
    int of_beanstalkd;
} exit_codes[] = {
    [EXIT_REASON_NONE] = {0, 0},          [EXIT_REASON_USAGE] = {2, 5},
    [EXIT_REASON_JOURNAL] = {1, 10},      [EXIT_REASON_USER_LOOKUP] = {1, 32},
    [EXIT_REASON_USER_UNKNOWN] = {1, 33}, [EXIT_REASON_USER_REFUSED] = {1, 34},
    [EXIT_REASON_ADDRESS] = {1, 111},     [EXIT_REASON_OTHER] = {1, 1},
};

int exit_reason_code(enum exit_reason reason, bool as_beanstalkd)
{
    return as_beanstalkd ? exit_codes[reason].of_beanstalkd : exit_codes[reason].ours;
}
