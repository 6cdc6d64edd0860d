/* SPDX-License-Identifier: MIT */

// All commands, in the order of the help.

#include "ctl/commands.h"

#include "ctl/operations.h"

#include <string.h>

#define ANY SIZE_MAX
#define IDS_OR_QUEUE "JOB... | --queue QUEUE | --queues GLOB"
#define FILTER (FOR_JSON | FOR_MANY)

// clang-format off
const struct command commands[] = {
    {"status", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_status,
     "The state of the broker, and the number of jobs.", NULL},
    {"health", "", 0, 0, WORD_OTHER, FOR_HEALTH, true, run_health,
     "Whether the broker lives, or with --ready serves clients, for probes.",
     "It needs no token and prints nothing on success. The exit code is 0, or 6 if the broker is not "
     "ready, or 3 if it does not answer."},
    {"top", "", 0, 0, WORD_OTHER, FOR_QUEUE_LIST | FOR_LIVE, false, run_top,
     "Queues and rates, live, in a terminal.",
     "q quits; < and > select the sort column, r reverses the order; / searches; arrows scroll; the "
     "space bar pauses; h lists the keys."},
    {"queues", "", 0, 0, WORD_OTHER, FOR_JSON | FOR_PAGES | FOR_QUEUE_LIST, false,
     run_queues, "A table of queues.", NULL},
    {"queue", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON, false, run_queue,
     "One queue, with the times that jobs wait and run.", NULL},
    {"jobs", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON | FOR_PAGES | FOR_STATE, false, run_jobs,
     "Jobs of a queue in a state, the next one first.",
     "The default of --state is ready; the default of --limit is 100."},
    {"show", "JOB", 1, 1, WORD_JOB, FOR_JSON | FOR_SHOW, false, run_show,
     "One job, with its settings, its dead-letter data and its body.",
     "The body is shown as text if it is text, otherwise in hexadecimal."},
    {"result", "JOB | HANDLE", 1, 1, WORD_JOB, FOR_JSON | FOR_SHOW, false, run_result,
     "The result of a job, if the policy of its queue stores results.",
     "For a job that has not ended, its state is shown. --raw writes the data alone."},
    {"add", "QUEUE [BODY]", 1, 2, WORD_QUEUE, FOR_JSON | FOR_ADD, false, run_add,
     "Adds a job and prints its id.",
     "Without BODY, or if it is -, the body is read from standard input."},
    {"kick", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER, false, run_act,
     "Makes buried or delayed jobs ready.", NULL},
    {"delete", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER, false, run_act,
     "Deletes jobs, even if a worker holds them.",
     "It prints the number of jobs and asks, unless --yes is given."},
    {"bury", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER | FOR_PRIORITY, false, run_act,
     "Buries jobs.", NULL},
    {"release", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER | FOR_PRIORITY | FOR_DELAY, false,
     run_act, "Takes jobs from their workers without using an attempt, or ends their delay.", NULL},
    {"touch", "JOB...", 0, ANY, WORD_JOB, FOR_JSON, false, run_act,
     "Restarts the TTR of reserved jobs.", NULL},
    {"change", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER | FOR_PRIORITY | FOR_DELAY, false,
     run_act, "Changes the priority or delay of jobs.", NULL},
    {"move", IDS_OR_QUEUE " --to QUEUE | --back", 0, ANY, WORD_JOB, FILTER | FOR_MOVE,
     false, run_act, "Moves jobs to another queue.",
     "With --back, dead letters go to their original queues, with all attempts available again."},
    {"clear", "QUEUE", 1, 1, WORD_QUEUE, FILTER, false, run_clear,
     "Deletes all jobs of a queue, or the jobs that match.",
     "It prints the number of jobs and asks, unless --yes is given."},
    {"pause", "QUEUE | --queues GLOB", 0, 1, WORD_QUEUE, FOR_JSON | FOR_PAUSE, false,
     run_pause, "Pauses a queue.", NULL},
    {"resume", "QUEUE | --queues GLOB", 0, 1, WORD_QUEUE, FOR_JSON | FOR_PAUSE, false,
     run_resume, "Ends a pause.", NULL},
    {"push-resume", "SECTION", 1, 1, WORD_OTHER, FOR_JSON, false, run_push_resume,
     "Ends the pause of a push endpoint.",
     "SECTION is the glob of its section [queue GLOB], as the log and queue QUEUE show it. The "
     "endpoint is tried again at once."},
    {"keep", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON, false, run_keep,
     "Keeps a queue even when it is empty, and creates it if it does not exist.", NULL},
    {"forget", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON, false, run_forget,
     "Lets a queue be deleted when it is not in use.", NULL},
    {"limit", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON | FOR_LIMIT, false, run_limit,
     "Sets the maximum number of jobs of a queue for each priority band.",
     "A band that is not given, or given with 0, has no limit."},
    {"workers", "[QUEUE]", 0, 1, WORD_QUEUE, FOR_JSON | FOR_PAGES, false, run_workers,
     "Connections of workers, of all queues or of one.", NULL},
    {"connections", "[CONNECTION]", 0, 1, WORD_OTHER, FOR_JSON | FOR_PAGES | FOR_CONNECTIONS,
     false, run_connections, "All connections, or one with the jobs that it holds.", NULL},
    {"journal", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_journal,
     "The journal, which stores durable jobs.", NULL},
    {"cluster", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_cluster,
     "The owner of a shared journal, and how far the standbys are behind.",
     "A standby also answers."},
    {"config", "[SECTION | SECTION.KEY]", 0, 1, WORD_OTHER, FOR_JSON, false, run_config,
     "The current configuration.", NULL},
    {"schedules", "", 0, 0, WORD_OTHER, FOR_JSON | FOR_PAGES, false, run_schedules,
     "A table of schedules.", NULL},
    {"schedule", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule,
     "One schedule, with its next and its last run and the outcome.", NULL},
    {"schedule-put", "NAME CRON QUEUE [BODY]", 3, 4, WORD_OTHER,
     FOR_JSON | FOR_PRIORITY | FOR_SCHEDULE, false, run_schedule_put,
     "Creates or changes a schedule, which the journal stores.",
     "CRON is one argument: '30 2 * * mon-fri', @daily. The schedule takes precedence over one of "
     "that name in the configuration."},
    {"schedule-drop", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule_drop,
     "Deletes a schedule of schedule-put.", NULL},
    {"schedule-run", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule_run,
     "Submits the job of a schedule now, and prints its id.", NULL},
    {"schedule-replan", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule_replan,
     "Plans a schedule again by the current clock.",
     "After the clock was set back, a schedule submits no job until the time that it had reached. "
     "This command ends that: times that have passed come again."},
    {"policies", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_policies,
     "Policies of queues: run-time policies, then those of the file.",
     "The first policy that matches a queue applies; queue QUEUE shows it."},
    {"policy", "show GLOB | set GLOB [KEY=VALUE...] | delete GLOB", 2, ANY, WORD_POLICY, FOR_JSON,
     false, run_policy, "Shows a policy, or sets or deletes a run-time policy.",
     "KEY is a key of a section [queue GLOB] of the configuration file, or position: the lowest comes "
     "first. Keys that set does not name have their defaults. A run-time policy applies at once, is "
     "stored in the journal, and precedes those of the file."},
    {"operations", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_operations,
     "Operations on many jobs, running and ended ones.", NULL},
    {"cancel", "OPERATION", 1, 1, WORD_OTHER, FOR_JSON, false, run_cancel,
     "Cancels an operation; its changes so far are kept.", NULL},
    {"drain", "[on | off]", 0, 1, WORD_SWITCH, FOR_JSON | FOR_DRAIN, false, run_drain,
     "Makes the broker refuse new jobs, or accept them again.",
     "With --wait, drain on returns when no worker holds a job, or with exit code 6 after the time of "
     "--for. Workers may go on taking jobs meanwhile."},
    {"log-commands", "ADDRESS | CONNECTION | off", 1, 1, WORD_OFF, FOR_JSON, false,
     run_log_commands, "Makes the broker log each command of one client, or stops that.",
     "ADDRESS is the address of the client without a port; CONNECTION is an id that connections "
     "shows. Lines have names, ids and sizes, but no bodies. A reload also stops it."},
    {"reload", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_reload,
     "Makes the broker read its configuration again.", NULL},
    {"handover", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_handover,
     "Hands a shared journal over to a standby, and waits for that.",
     "This broker commits everything, closes its connections and becomes a standby. With --json, it "
     "prints the answer of cluster."},
    {"metrics", "", 0, 0, WORD_OTHER, 0, false, run_metrics,
     "All metrics in Prometheus' text format.", NULL},
    {"events", "", 0, 0, WORD_OTHER, FOR_JSON | FOR_QUEUE | FOR_QUEUE_LIST | FOR_EVENTS, false,
     run_events, "Changes as they happen, until Ctrl-C.",
     "With --json, each event is a line with a JSON object."},
    {"migrate", "[FROM] [--to TO]", 0, 1, WORD_OTHER,
     FOR_MIGRATE, false, run_migrate,
     "Moves the jobs of a running beanstalkd here; with --to, from here to one.",
     "FROM and TO are beanstalk://HOST:PORT for a beanstalkd, and for a Tandem its admin.listen: "
     "http://HOST:PORT, https://HOST:PORT or unix:/PATH; the other side is the broker of --address. "
     "Clients of both may continue. After it was killed, the same command continues."},
    {"export", "[FILE]", 0, 1, WORD_FILE, FOR_EXPORT, false, run_export,
     "Writes all jobs as lines of JSON, in the order of their ids.",
     "Buried jobs come last. Reserved jobs are written as ready. FILE appears when it is complete; "
     "without FILE, or if it is -, jobs are written to standard output."},
    {"import", "FILE | - | KIND:PLACE", 1, 1, WORD_FILE, FOR_JSON | FOR_IMPORT, false, run_import,
     "Imports jobs: lines of JSON, or the store of another broker.",
     "KIND:PLACE is beanstalkd:DIRECTORY, gearmand-sqlite:FILE, gearmand-postgres:CONNINFO or "
     "gearmand-mysql-dump:FILE. FILE.imported has the progress: if the import stops, the same command "
     "continues it. A line that is not a job, or that its queue refuses, is skipped and reported."},
    {"journal-check", "DIRECTORY", 1, 1, WORD_FILE, FOR_JSON, true, run_journal_check,
     "Checks a journal that no broker uses.",
     "Nothing is changed. It needs as much memory as the jobs."},
    {0},
};
// clang-format on

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}
