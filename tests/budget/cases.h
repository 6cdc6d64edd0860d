/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_BUDGET_CASES_H
#define TANDEM_TESTS_BUDGET_CASES_H

// A case repeats one operation `count` times over one or two connections. It checks the replies, so
// that a failing operation is not measured as a cheap one.

#include "tests/budget/host.h"

#include <stdbool.h>

// The body of each job.
#define BODY_64 "abcdefghijklmnopqrstuvwxyz012345ABCDEFGHIJKLMNOPQRSTUVWXYZ678901"

struct budget_case {
    const char *name; // as in the file of figures; NULL ends a table
    void (*run)(struct host *host, unsigned long count);
    bool durable;
};

// The cases of one protocol.
struct budget_area {
    const struct frontend *frontend;
    const void *settings;
    const struct budget_case *cases;
};

extern const struct budget_area beanstalk_area;
extern const struct budget_area gearman_area;
extern const struct budget_area http_area;

#endif
