/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_OPERATION_PLAN_H
#define TANDEM_ADMIN_OPERATION_PLAN_H

// What a request wants to be done to many: `NewOperation`, read.

#include "admin/input.h"
#include "admin/operation.h"

// Reads it. Slices of the plan are borrowed from the input. What is wrong is noted there.
void operation_plan_read(struct input *input, struct operation_plan *plan);

#endif
