/* SPDX-License-Identifier: MIT */
#include "ctl/api/problem.h"

#include <stdarg.h>
#include <stdio.h>

enum outcome problem_set(struct problem *problem, enum outcome outcome, const char *format, ...)
{
    va_list args;

    problem->outcome = outcome;
    va_start(args, format);
    (void)vsnprintf(problem->why.text, sizeof problem->why.text, format, args);
    va_end(args);
    return outcome;
}
