/* SPDX-License-Identifier: MIT */

// All options, in the order in which they are listed.

#include "ctl/options.h"

#define PLACE(member) offsetof(struct options, member)

#define STATES "ready+ delayed+ reserved+ buried+"
#define SORTS                                                                                      \
    "name ready delayed reserved buried submitted completed failed timeouts retries deleted "      \
    "oldest_ready_seconds workers waiting "                                                        \
    "-name -ready -delayed -reserved -buried -submitted -completed -failed -timeouts -retries "    \
    "-deleted -oldest_ready_seconds -workers -waiting"
#define WITH "ready+ delayed+ reserved+ buried+ paused+ waiting+ worked+ unworked+"

// clang-format off
const struct option options_table[] = {
    {"--queue", 'q', OPTION_TEXT, PLACE(queue), FOR_MANY | FOR_QUEUE, "QUEUE", NULL,
     "of this queue"},
    {"--queues", 0, OPTION_TEXT, PLACE(queues), FOR_MANY | FOR_PAUSE, "GLOB", NULL,
     "of all queues of such names, as 'mail-*'"},
    {"--state", 's', OPTION_WORDS, PLACE(state), FOR_STATE | FOR_MANY, "STATE", STATES,
     "in this state, or in these with commas: ready, delayed, reserved, buried"},
    {"--older-than", 0, OPTION_SECONDS, PLACE(older_than), FOR_MANY, "TIME", NULL,
     "submitted at least so long ago: 90, 10m, 1h30m, 2d"},
    {"--younger-than", 0, OPTION_SECONDS, PLACE(younger_than), FOR_MANY, "TIME", NULL,
     "submitted at most so long ago"},
    {"--priority", 'p', OPTION_RANGE, PLACE(priority_least), FOR_MANY | FOR_ADD, "A-B", NULL,
     "of such a priority; 0 comes first"},
    {"--contains", 0, OPTION_TEXT, PLACE(contains), FOR_MANY, "TEXT", NULL,
     "whose body has these bytes in it"},
    {"--larger-than", 0, OPTION_BYTES, PLACE(larger_than), FOR_MANY, "SIZE", NULL,
     "whose body has more bytes: 512, 10k, 1M"},
    {"--smaller-than", 0, OPTION_BYTES, PLACE(smaller_than), FOR_MANY, "SIZE", NULL,
     "whose body has fewer bytes"},
    {"--max", 'm', OPTION_COUNT, PLACE(max), FOR_MANY, "N", NULL, "at most so many jobs"},
    {"--dry-run", 'n', OPTION_FLAG, PLACE(dry_run), FOR_MANY, NULL, NULL,
     "only count what it would touch"},
    {"--yes", 'y', OPTION_FLAG, PLACE(yes), FOR_MANY, NULL, NULL, "do not ask"},
    {"--to", 't', OPTION_TEXT, PLACE(to), FOR_MOVE | FOR_MIGRATE, "QUEUE", NULL,
     "the queue they go to; the server that jobs are migrated to, as beanstalk://HOST:PORT"},
    {"--back", 0, OPTION_FLAG, PLACE(back), FOR_MOVE, NULL, NULL,
     "back to the queues that policies took them from"},
    {"--new-priority", 0, OPTION_COUNT, PLACE(new_priority), FOR_PRIORITY, "N", NULL,
     "the priority they get"},
    {"--delay", 'd', OPTION_SECONDS, PLACE(delay), FOR_DELAY | FOR_ADD, "TIME", NULL,
     "ready only after so long"},
    {"--for", 0, OPTION_SECONDS, PLACE(pause_for), FOR_PAUSE, "TIME", NULL,
     "how long; without it, a day"},
    {"--high", 0, OPTION_COUNT, PLACE(high), FOR_LIMIT, "N", NULL,
     "jobs of high priority are refused from so many jobs on"},
    {"--normal", 0, OPTION_COUNT, PLACE(normal), FOR_LIMIT, "N", NULL,
     "those of normal priority"},
    {"--low", 0, OPTION_COUNT, PLACE(low), FOR_LIMIT, "N", NULL, "those of low priority"},
    {"--ttr", 0, OPTION_COUNT, PLACE(ttr), FOR_ADD | FOR_SCHEDULE | FOR_MIGRATE, "SECONDS", NULL,
     "how long a worker may hold it; 0: until the worker leaves"},
    {"--unique", 0, OPTION_TEXT, PLACE(job_key), FOR_ADD, "KEY", NULL,
     "join a live job of that key, where there is one"},
    {"--attempts", 0, OPTION_COUNT, PLACE(attempts), FOR_ADD, "N", NULL,
     "how often it may be tried; 0: any number"},
    {"--on-failure", 0, OPTION_WORDS, PLACE(on_failure), FOR_ADD, "WHAT", "bury drop",
     "what becomes of it then: bury or drop"},
    {"--timezone", 0, OPTION_TEXT, PLACE(timezone), FOR_SCHEDULE, "ZONE", NULL,
     "whose clocks count, as Europe/Berlin; without it, the broker's"},
    {"--missed", 0, OPTION_WORDS, PLACE(missed), FOR_SCHEDULE, "WHAT", "skip once all",
     "what becomes of moments that passed while nobody looked: skip, once or all"},
    {"--overlap", 0, OPTION_WORDS, PLACE(overlap), FOR_SCHEDULE, "WHAT", "allow skip",
     "whether a moment counts while the job before is not done: allow or skip"},
    {"--tubes", 0, OPTION_TEXT, PLACE(tubes), FOR_MIGRATE, "GLOB", NULL,
     "jobs of tubes of such names, as 'mail-*'"},
    {"--state-file", 0, OPTION_TEXT, PLACE(state_file), FOR_MIGRATE, "FILE", NULL,
     "what is under way, for the run that goes on; without it, a file in XDG_STATE_HOME or here"},
    {"--wait", 0, OPTION_FLAG, PLACE(wait), FOR_MIGRATE, NULL, NULL,
     "until workers hold none of the jobs any more"},
    {"--follow", 'f', OPTION_FLAG, PLACE(follow), FOR_MIGRATE, NULL, NULL, "until Ctrl-C"},
    {"--search", 0, OPTION_TEXT, PLACE(search), FOR_QUEUE_LIST, "TEXT", NULL,
     "those that have this in their name"},
    {"--name", 0, OPTION_TEXT, PLACE(name), FOR_QUEUE_LIST, "GLOB", NULL,
     "those of such a name, as 'mail-*'"},
    {"--with", 'w', OPTION_WORDS, PLACE(with), FOR_QUEUE_LIST, "WHAT", WITH,
     "those that have ready, delayed, reserved or buried jobs, are paused, have workers waiting, "
     "are worked or unworked; several with commas"},
    {"--sort", 'S', OPTION_WORDS, PLACE(sort), FOR_QUEUE_LIST, "COLUMN", SORTS,
     "by this column; with a minus before it, the largest first"},
    {"--protocol", 0, OPTION_WORDS, PLACE(protocol), FOR_CONNECTIONS, "NAME",
     "beanstalk gearman http admin", "those that speak it"},
    {"--limit", 'l', OPTION_COUNT, PLACE(limit), FOR_PAGES, "N", NULL,
     "at most so many; 0: all"},
    {"--text", 0, OPTION_FLAG, PLACE(as_text), FOR_SHOW, NULL, NULL, "the body as text"},
    {"--hex", 0, OPTION_FLAG, PLACE(as_hex), FOR_SHOW, NULL, NULL, "the body as hexadecimal"},
    {"--raw", 0, OPTION_FLAG, PLACE(raw), FOR_SHOW, NULL, NULL,
     "the body alone, all of it, byte for byte"},
    {"--interval", 'i', OPTION_SECONDS, PLACE(interval), FOR_LIVE, "TIME", NULL,
     "how often it looks anew; 2 s without it"},
    {"--count", 'c', OPTION_COUNT, PLACE(count), FOR_EVENTS, "N", NULL, "end after so many"},
    {"--json", 'j', OPTION_FLAG, PLACE(json), FOR_JSON, NULL, NULL,
     "the broker's answer as it comes, for programs"},
    {"--address", 'a', OPTION_TEXT, PLACE(address), FOR_ALL, "ADDRESS", NULL,
     "the broker's admin.listen: http://127.0.0.1:9180, https://..., unix:/path; also "
     "TANDEM_ADDRESS"},
    {"--token-file", 0, OPTION_TEXT, PLACE(token_file), FOR_ALL, "FILE", NULL,
     "the token to show is its first line; also TANDEM_TOKEN"},
    {"--cacert", 0, OPTION_TEXT, PLACE(cacert), FOR_ALL, "FILE", NULL,
     "who vouches for the broker's certificate"},
    {"--cert", 0, OPTION_TEXT, PLACE(cert), FOR_ALL, "FILE", NULL, "the certificate to show"},
    {"--key", 0, OPTION_TEXT, PLACE(key), FOR_ALL, "FILE", NULL, "its key"},
    {"--timeout", 0, OPTION_SECONDS, PLACE(timeout), FOR_ALL, "TIME", NULL,
     "how long to wait for an answer; 10 s without it"},
    {"--help", 'h', OPTION_FLAG, PLACE(help), FOR_ALL, NULL, NULL, "say what a command does"},
    {"--version", 'V', OPTION_FLAG, PLACE(version), FOR_ALL, NULL, NULL, "say the version"},
    {0},
};
// clang-format on
