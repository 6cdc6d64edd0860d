/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_OPTIONS_H
#define TANDEM_CTL_OPTIONS_H

#include "ctl/api/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The command line: options, each a row of a table, and operands. Options may stand anywhere,
// before and after the command, as --name VALUE or --name=VALUE. Arguments after -- are operands.

// The value of a number that is not given. Missing texts are NULL, and missing flags are false.
#define NO_COUNT UINT64_MAX
#define NO_SECONDS (-1.0)

struct options {
    // All commands
    const char *address, *token_file, *cacert, *cert, *key;
    double timeout; // NO_SECONDS: the command's default, see options_timeout()
    bool json, help, version;
    // Lists
    const char *search, *name, *with, *sort, *protocol;
    uint64_t limit;
    // Selection of jobs
    const char *queue, *queues, *state, *contains;
    double older_than, younger_than;
    uint64_t priority_least, priority_most;
    uint64_t larger_than, smaller_than, max;
    bool dry_run, yes;
    // Changes to jobs
    const char *to;
    bool back;
    uint64_t new_priority;
    double delay, pause_for;
    uint64_t high, normal, low;
    // A new job
    uint64_t ttr, attempts;
    const char *job_key, *on_failure;
    // Import
    uint64_t from;
    bool repair;
    // A schedule
    const char *timezone, *missed, *overlap;
    // Migration
    const char *tubes, *state_file, *from_token_file, *to_token_file;
    bool wait, follow;
    // Health
    bool ready;
    // Output
    bool as_text, as_hex, raw;
    double interval;
    uint64_t count;
    // The command and its operands: borrowed from the command line.
    const char **words;
    size_t word_count;
};

// Groups of options, by the commands that take them.
enum {
    FOR_ALL = 1,
    FOR_JSON = 2,
    FOR_PAGES = 4,
    FOR_QUEUE_LIST = 8,
    FOR_STATE = 16,
    FOR_MANY = 32, // acts on many jobs
    FOR_QUEUE = 64,
    FOR_MOVE = 128,
    FOR_PRIORITY = 256,
    FOR_DELAY = 512,
    FOR_PAUSE = 1024,
    FOR_ADD = 2048,
    FOR_SHOW = 4096,
    FOR_LIVE = 8192,
    FOR_EVENTS = 16384,
    FOR_CONNECTIONS = 32768,
    FOR_LIMIT = 65536,
    FOR_SCHEDULE = 131072,
    FOR_MIGRATE = 262144,
    FOR_IMPORT = 524288,
    FOR_EXPORT = 1048576,
    FOR_DRAIN = 2097152,
    FOR_HEALTH = 4194304
};

enum command_option_kind {
    OPTION_FLAG,    // bool
    OPTION_TEXT,    // const char *
    OPTION_WORDS,   // const char *: a word of the row, or several joined by commas
    OPTION_COUNT,   // uint64_t
    OPTION_BYTES,   // uint64_t
    OPTION_SECONDS, // double
    OPTION_RANGE    // two uint64_t
};

struct command_option {
    const char *name;
    char letter; // 0: none
    enum command_option_kind kind;
    size_t place;       // offset in struct options
    unsigned groups;    // of the commands that take it
    const char *value;  // placeholder in the help; NULL for a flag. QUEUE and FILE can be completed
    const char *words;  // for OPTION_WORDS, separated by blanks; a word that ends with + may be
                        // joined to others by commas
    const char *effect; // help text
};

// All options. A row without a name ends the table.
extern const struct command_option options_table[];

// Finds an option by its name ("--limit" or "-y"). NULL if there is none.
const struct command_option *options_find(const char *name, size_t len);

// Parses the arguments, without the name of the program. `words` has room for all of them. Checks
// the values of options, but not whether the command takes them.
enum outcome options_read(struct options *options, int count, char **arguments,
                          struct problem *problem);

// How long to wait for an answer: --timeout, or 10 seconds.
double options_timeout(const struct options *options);

// Checks that every given option belongs to `groups`. Otherwise OUTCOME_USAGE with a problem.
enum outcome options_allow(int count, char **arguments, unsigned groups, const char *command,
                           struct problem *problem);

#endif
