/* SPDX-License-Identifier: MIT */

// All commands, in the order in which they are listed.

#include "ctl/act.h"
#include "ctl/add.h"
#include "ctl/cluster.h"
#include "ctl/command.h"
#include "ctl/export.h"
#include "ctl/handover.h"
#include "ctl/import.h"
#include "ctl/inside.h"
#include "ctl/jobs.h"
#include "ctl/journal_check.h"
#include "ctl/keep.h"
#include "ctl/migrate.h"
#include "ctl/operations.h"
#include "ctl/pause.h"
#include "ctl/peers.h"
#include "ctl/policies.h"
#include "ctl/queues.h"
#include "ctl/schedules.h"
#include "ctl/show.h"
#include "ctl/status.h"
#include "ctl/streams.h"
#include "ctl/switches.h"
#include "ctl/top.h"

#include <string.h>

#define ANY SIZE_MAX
#define IDS_OR_QUEUE "JOB... | --queue QUEUE | --queues GLOB"
#define FILTER (FOR_JSON | FOR_MANY)

// clang-format off
const struct command commands[] = {
    {"status", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_status,
     "The process at work, and all jobs in numbers.", NULL},
    {"top", "", 0, 0, WORD_OTHER, FOR_QUEUE_LIST | FOR_LIVE, false, run_top,
     "Queues and rates, live, on a terminal.",
     "q quits; < and > choose the column to sort by, r reverses; / searches; arrows scroll; the "
     "space bar holds the picture; h lists the keys."},
    {"queues", "", 0, 0, WORD_OTHER, FOR_JSON | FOR_PAGES | FOR_QUEUE_LIST, false,
     run_queues, "Queues, in a table.", NULL},
    {"queue", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON, false, run_queue,
     "One queue, with how long jobs wait and run.", NULL},
    {"jobs", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON | FOR_PAGES | FOR_STATE, false, run_jobs,
     "Jobs of a queue in one state, next first.",
     "Without --state, those that are ready; without --limit, a hundred."},
    {"show", "JOB", 1, 1, WORD_JOB, FOR_JSON | FOR_SHOW, false, run_show,
     "One job, with its contract, its past and its body.",
     "The body is shown as text where it is text, in hexadecimal otherwise."},
    {"result", "JOB | HANDLE", 1, 1, WORD_JOB, FOR_JSON | FOR_SHOW, false, run_result,
     "What a job ended with, where its queue's policy keeps that.",
     "A job that has not ended is shown as it stands. --raw writes the data alone."},
    {"add", "QUEUE [BODY]", 1, 2, WORD_QUEUE, FOR_JSON | FOR_ADD, false, run_add,
     "Adds a job and prints its number.",
     "Without BODY, or where it is -, the body is what is on standard input."},
    {"kick", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER, false, run_act,
     "Makes buried or delayed jobs ready.", NULL},
    {"delete", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER, false, run_act,
     "Deletes jobs, whoever holds them.",
     "It says how many they are, and asks, unless --yes is given."},
    {"bury", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER | FOR_PRIORITY, false, run_act,
     "Sets jobs aside.", NULL},
    {"release", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER | FOR_PRIORITY | FOR_DELAY, false,
     run_act, "Takes jobs from their workers, without blame, or ends their delay.", NULL},
    {"touch", "JOB...", 0, ANY, WORD_JOB, FOR_JSON, false, run_act,
     "Starts the time to run of held jobs anew.", NULL},
    {"change", IDS_OR_QUEUE, 0, ANY, WORD_JOB, FILTER | FOR_PRIORITY | FOR_DELAY, false,
     run_act, "Gives jobs another priority or delay.", NULL},
    {"move", IDS_OR_QUEUE " --to QUEUE | --back", 0, ANY, WORD_JOB, FILTER | FOR_MOVE,
     false, run_act, "Moves jobs to another queue.",
     "With --back, dead letters go to where they came from, with all their attempts before them."},
    {"clear", "QUEUE", 1, 1, WORD_QUEUE, FILTER, false, run_clear,
     "Deletes all jobs of a queue, or those that fit.",
     "It says how many they are, and asks, unless --yes is given."},
    {"pause", "QUEUE | --queues GLOB", 0, 1, WORD_QUEUE, FOR_JSON | FOR_PAUSE, false,
     run_pause, "Has nothing taken from a queue for a while.", NULL},
    {"resume", "QUEUE | --queues GLOB", 0, 1, WORD_QUEUE, FOR_JSON | FOR_PAUSE, false,
     run_resume, "Ends a pause.", NULL},
    {"push-resume", "SECTION", 1, 1, WORD_OTHER, FOR_JSON, false, run_push_resume,
     "Ends the pause of an endpoint that jobs are pushed to.",
     "SECTION is the glob of its section [queue GLOB], as the log and queue QUEUE have it. The "
     "endpoint is tried again at once."},
    {"keep", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON, false, run_keep,
     "Has a queue stay when it is empty, and makes it where there is none.", NULL},
    {"forget", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON, false, run_forget,
     "Has a queue go when nothing refers to it.", NULL},
    {"limit", "QUEUE", 1, 1, WORD_QUEUE, FOR_JSON | FOR_LIMIT, false, run_limit,
     "Sets how many jobs a queue takes, by band of priority.",
     "A band that is not named, or named with 0, has no limit."},
    {"workers", "[QUEUE]", 0, 1, WORD_QUEUE, FOR_JSON | FOR_PAGES, false, run_workers,
     "Connections that take jobs, from all queues or from one.", NULL},
    {"connections", "[CONNECTION]", 0, 1, WORD_OTHER, FOR_JSON | FOR_PAGES | FOR_CONNECTIONS,
     false, run_connections, "All connections, or one with what it holds.", NULL},
    {"journal", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_journal,
     "The journal: what keeps durable jobs.", NULL},
    {"cluster", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_cluster,
     "Who owns a journal that several brokers share, and how far behind the others are.",
     "A broker that follows answers, too."},
    {"config", "[SECTION | SECTION.KEY]", 0, 1, WORD_OTHER, FOR_JSON, false, run_config,
     "The configuration in force.", NULL},
    {"schedules", "", 0, 0, WORD_OTHER, FOR_JSON | FOR_PAGES, false, run_schedules,
     "Jobs that are submitted by the calendar, in a table.", NULL},
    {"schedule", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule,
     "One schedule, with its next and its last moment, and why not.", NULL},
    {"schedule-put", "NAME CRON QUEUE [BODY]", 3, 4, WORD_OTHER,
     FOR_JSON | FOR_PRIORITY | FOR_SCHEDULE, false, run_schedule_put,
     "Makes a schedule, or changes it; that is kept.",
     "CRON is one word: '30 2 * * mon-fri', @daily. It holds over a schedule of that name in the "
     "configuration."},
    {"schedule-drop", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule_drop,
     "Takes back what schedule-put has said.", NULL},
    {"schedule-run", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule_run,
     "Submits the job of a schedule now, and prints its number.", NULL},
    {"schedule-replan", "NAME", 1, 1, WORD_OTHER, FOR_JSON, false, run_schedule_replan,
     "Plans a schedule again by the clock as it is now.",
     "After the clock was set back, a schedule is silent until the moment that it had reached. This "
     "ends the silence: moments that came before come again."},
    {"policies", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_policies,
     "Policies of queues: those of the run time, then those of the file.",
     "A queue has the first that fits its name; queue QUEUE says which."},
    {"policy", "show GLOB | set GLOB [KEY=VALUE...] | delete GLOB", 2, ANY, WORD_POLICY, FOR_JSON,
     false, run_policy, "Shows a policy, makes one at run time, or takes such a one away.",
     "KEY is one of a section [queue GLOB] of the configuration file, or position: the lowest comes "
     "first. set says all that the policy is to say: keys that are not named have their defaults. "
     "What is made at run time holds at once, and is kept in the journal, over the file."},
    {"operations", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_operations,
     "What is done to many jobs in the background, and what was.", NULL},
    {"cancel", "OPERATION", 1, 1, WORD_OTHER, FOR_JSON, false, run_cancel,
     "Cancels such an operation; what it has done stays done.", NULL},
    {"drain", "[on | off]", 0, 1, WORD_SWITCH, FOR_JSON, false, run_drain,
     "Has the broker refuse new jobs, or take them again.", NULL},
    {"log-commands", "ADDRESS | CONNECTION | off", 1, 1, WORD_OFF, FOR_JSON, false,
     run_log_commands, "Has the broker log each command of one client, or ends that.",
     "ADDRESS is the client's, without a port; CONNECTION is a number that connections shows. Lines "
     "have names, ids and sizes, but no bodies. A reload ends it, too."},
    {"reload", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_reload,
     "Has the broker read its configuration again.", NULL},
    {"handover", "", 0, 0, WORD_OTHER, FOR_JSON, false, run_handover,
     "Has another broker own the journal that they share, and waits for that.",
     "This broker makes all safe, drops its clients and follows. With --json, what cluster tells "
     "then."},
    {"metrics", "", 0, 0, WORD_OTHER, 0, false, run_metrics,
     "All metrics, in Prometheus' text format.", NULL},
    {"events", "", 0, 0, WORD_OTHER, FOR_JSON | FOR_QUEUE | FOR_QUEUE_LIST | FOR_EVENTS, false,
     run_events, "What changes, as it changes, until Ctrl-C.",
     "With --json, each event is a line with a JSON object."},
    {"migrate", "[FROM] [--to TO]", 0, 1, WORD_OTHER,
     FOR_MIGRATE, false, run_migrate,
     "Moves the jobs of a running beanstalkd here, or with --to, those of here to one.",
     "FROM and TO are beanstalk://HOST:PORT for a beanstalkd, and for a Tandem its admin.listen: "
     "http://HOST:PORT, https://HOST:PORT or unix:/PATH; the one that is not named is the broker of "
     "--address. Clients of both may go on. It may be killed, and goes on when it is called again."},
    {"export", "[FILE]", 0, 1, WORD_FILE, FOR_EXPORT, false, run_export,
     "Writes all jobs as lines of JSON, in the order of their numbers.",
     "Buried jobs come last. Held jobs are written as ready. FILE is there when all of it is; "
     "without one, or where it is -, it is standard output."},
    {"import", "FILE | - | KIND:PLACE", 1, 1, WORD_FILE, FOR_JSON | FOR_IMPORT, false, run_import,
     "Brings in jobs: lines of JSON, or what another broker has left behind.",
     "KIND:PLACE is beanstalkd:DIRECTORY, gearmand-sqlite:FILE, gearmand-postgres:CONNINFO or "
     "gearmand-mysql-dump:FILE. FILE.imported keeps how far it is: where it stops, the same command "
     "goes on. A line that is no job, or that its queue does not take, is left, and said."},
    {"journal-check", "DIRECTORY", 1, 1, WORD_FILE, FOR_JSON, true, run_journal_check,
     "Reads a journal that no broker uses, and says what is wrong with it.",
     "Nothing is changed. It takes as much memory as the jobs did."},
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
