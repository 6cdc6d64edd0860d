/* SPDX-License-Identifier: MIT */
#include "server/process/exit_reason.h"

static const struct {
    int ours;
    int of_beanstalkd;
} exit_codes[] = {
    [FAULT_NONE] = {0, 0},         [FAULT_USAGE] = {2, 5},         [FAULT_JOURNAL] = {1, 10},
    [FAULT_USER_LOOKUP] = {1, 32}, [FAULT_USER_UNKNOWN] = {1, 33}, [FAULT_USER_REFUSED] = {1, 34},
    [FAULT_ADDRESS] = {1, 111},    [FAULT_OTHER] = {1, 1},
};

int fault_exit_code(enum fault fault, bool as_beanstalkd)
{
    return as_beanstalkd ? exit_codes[fault].of_beanstalkd : exit_codes[fault].ours;
}
