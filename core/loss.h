/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_LOSS_H
#define TANDEM_CORE_LOSS_H

// Private to the core: what the log is told of jobs that fail or lose their holder.

#include "core/broker.h"

// A line `event` at info with the job, its queue and why, unless there were too many lately. The
// job is as it is before it leaves its holder.
void loss_log(struct broker *broker, const struct job *job, const char *event, const char *why);

#endif
