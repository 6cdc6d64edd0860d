/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_COMMANDS_H
#define TANDEM_CTL_COMMANDS_H

// The functions that run the commands, by source. `commands` (command.h) is the table of them.

#include "ctl/command.h"

// act.c
enum outcome run_act(struct context *context); // the name of the command selects the act
enum outcome run_clear(struct context *context);

// broker.c
enum outcome run_config(struct context *context);
enum outcome run_drain(struct context *context);
enum outcome run_health(struct context *context);
enum outcome run_journal(struct context *context);
enum outcome run_log_commands(struct context *context);
enum outcome run_push_resume(struct context *context);
enum outcome run_reload(struct context *context);
enum outcome run_status(struct context *context);

// cluster.c
enum outcome run_cluster(struct context *context);
enum outcome run_handover(struct context *context);

// connections.c
enum outcome run_connections(struct context *context);
enum outcome run_workers(struct context *context);

// export.c, import.c, migrate.c
enum outcome run_export(struct context *context);
enum outcome run_import(struct context *context);
enum outcome run_migrate(struct context *context);

// jobs.c
enum outcome run_add(struct context *context);
enum outcome run_jobs(struct context *context);
enum outcome run_result(struct context *context);
enum outcome run_show(struct context *context);

// journal_check.c
enum outcome run_journal_check(struct context *context);

// operations.c
enum outcome run_cancel(struct context *context);
enum outcome run_operations(struct context *context);

// queues.c
enum outcome run_forget(struct context *context);
enum outcome run_keep(struct context *context);
enum outcome run_limit(struct context *context);
enum outcome run_pause(struct context *context);
enum outcome run_policies(struct context *context);
enum outcome run_policy(struct context *context);
enum outcome run_queue(struct context *context);
enum outcome run_queues(struct context *context);
enum outcome run_resume(struct context *context);

// schedules.c
enum outcome run_schedule(struct context *context);
enum outcome run_schedule_drop(struct context *context);
enum outcome run_schedule_put(struct context *context);
enum outcome run_schedule_replan(struct context *context);
enum outcome run_schedule_run(struct context *context);
enum outcome run_schedules(struct context *context);

// streams.c
enum outcome run_events(struct context *context);
enum outcome run_metrics(struct context *context);

// top.c
enum outcome run_top(struct context *context);

#endif
