/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_SCHEDULES_H
#define TANDEM_CTL_SCHEDULES_H

// Lists, shows and changes schedules, which submit jobs by the calendar.

#include "ctl/command.h"

enum outcome run_schedules(struct context *context);
enum outcome run_schedule(struct context *context);
enum outcome run_schedule_put(struct context *context);
enum outcome run_schedule_drop(struct context *context);
enum outcome run_schedule_run(struct context *context);
enum outcome run_schedule_replan(struct context *context);

#endif
