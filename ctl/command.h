/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_COMMAND_H
#define TANDEM_CTL_COMMAND_H

// A command and its context. A command prints its result to standard output. If it fails, it sets
// the problem, which the program prints.

#include "ctl/api/call.h"
#include "ctl/options.h"
#include "ctl/print/screen.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

struct command;

struct context {
    const struct command *command; // the command that runs
    const struct options *options;
    const char **words; // operands of the command
    size_t count;
    struct client *client; // NULL for a command that does not need a broker
    struct screen screen;
    struct text out; // output not yet written; print() writes it
    struct problem *problem;
};

// The kinds of operands, for completion.
enum word_kind { WORD_OTHER, WORD_QUEUE, WORD_JOB, WORD_FILE, WORD_SWITCH, WORD_OFF, WORD_POLICY };

struct command {
    const char *name;
    const char *usage; // its operands
    size_t least, most;
    enum word_kind words;
    unsigned groups; // groups of options that it takes
    bool offline;    // does not need a broker
    enum outcome (*run)(struct context *context);
    const char *effect; // one line
    const char *more;   // further lines; NULL: none
};

// All commands. A row without a name ends the table.
extern const struct command commands[];

const struct command *command_find(const char *name);

// Writes `context->out` to standard output.
enum outcome print(struct context *context);

// Calls the API and takes ownership of `body`. The caller frees the reply even after a failure.
enum outcome ask(struct context *context, const char *method, const char *path, json_t *body,
                 struct reply *reply);
// For --json: prints the reply unchanged.
enum outcome print_json(struct context *context, const struct reply *reply);

// Sends a request whose answer is received piece by piece.
enum outcome ask_stream(struct context *context, const struct request *request);
// Prints an answer byte for byte, as it arrives.
enum outcome print_stream(struct context *context, const char *path, const char *accept);

// Prints the problem to standard error; nothing if it has no text.
void complain(const struct problem *problem);

// `text` as a JSON string. NULL with a problem if it is not valid UTF-8.
json_t *json_of(struct context *context, const char *what, const char *text);

#endif
