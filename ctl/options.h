/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_OPTIONS_H
#define TANDEM_CTL_OPTIONS_H

// The command line: options, each a row of a table, and what stands between them. Options may stand
// anywhere, before a command and behind it, as --name VALUE or --name=VALUE; what follows -- is no
// option.

#include "ctl/api/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is not given. Texts are NULL then, and flags false.
#define NO_COUNT UINT64_MAX
#define NO_SECONDS (-1.0)

struct options {
    // All commands
    const char *address, *token_file, *cacert, *cert, *key;
    double timeout;
    bool json, help, version;
    // Lists
    const char *search, *name, *with, *sort, *protocol;
    uint64_t limit;
    // Which jobs
    const char *queue, *queues, *state, *contains;
    double older_than, younger_than;
    uint64_t priority_least, priority_most;
    uint64_t larger_than, smaller_than, max;
    bool dry_run, yes;
    // What becomes of them
    const char *to;
    bool back;
    uint64_t new_priority;
    double delay, pause_for;
    uint64_t high, normal, low;
    // A new job
    uint64_t ttr, attempts;
    const char *job_key, *on_failure;
    // Jobs from elsewhere
    uint64_t from;
    bool repair;
    // A schedule
    const char *timezone, *missed, *overlap;
    // A migration
    const char *tubes, *state_file, *from_token_file, *to_token_file;
    bool wait, follow;
    // How it is shown
    bool as_text, as_hex, raw;
    double interval;
    uint64_t count;
    // The command and what it is about: borrowed from the command line.
    const char **words;
    size_t word_count;
};

// Which commands take an option: the groups that a command names.
enum {
    FOR_ALL = 1,
    FOR_JSON = 2,
    FOR_PAGES = 4,
    FOR_QUEUE_LIST = 8,
    FOR_STATE = 16,
    FOR_MANY = 32, // what is done to many jobs
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
    FOR_EXPORT = 1048576
};

enum option_kind {
    OPTION_FLAG,    // bool
    OPTION_TEXT,    // const char *
    OPTION_WORDS,   // the same: one of the words of the row, or some of them with commas
    OPTION_COUNT,   // uint64_t
    OPTION_BYTES,   // uint64_t
    OPTION_SECONDS, // double
    OPTION_RANGE    // two uint64_t
};

struct option {
    const char *name;
    char letter; // 0: none
    enum option_kind kind;
    size_t place;       // in struct options
    unsigned groups;    // of commands that take it
    const char *value;  // what it is called in a summary; NULL for a flag. QUEUE and FILE can be
                        // completed
    const char *words;  // for OPTION_WORDS: with blanks between them; one that ends with + may be
                        // joined to others by commas
    const char *effect; // for people
};

// All of them; the row without a name is the end.
extern const struct option options_table[];

// NULL for none of that name ("--limit" or "-y").
const struct option *options_find(const char *name, size_t len);

// Reads the arguments, without the name of the program. `words` has room for all of them. Numbers
// and words of options are checked, but not whether the command takes them.
enum outcome options_read(struct options *options, int count, char **arguments,
                          struct problem *problem);

// Whether each option that is given is one of the groups; the outcome is of usage otherwise.
enum outcome options_allow(int count, char **arguments, unsigned groups, const char *command,
                           struct problem *problem);

#endif
