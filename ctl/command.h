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
    struct text out; // output not yet written; command_print() writes it
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
enum outcome command_print(struct context *context);

// Calls the API and takes ownership of `body`. The caller frees the reply even after a failure.
enum outcome command_ask(struct context *context, const char *method, const char *path,
                         json_t *body, struct reply *reply);
// Calls the API, and prints the reply: unchanged with --json, otherwise the output that `add` adds.
// Takes ownership of `body`.
enum outcome command_show(struct context *context, const char *method, const char *path,
                          json_t *body, void (*add)(struct context *context, const json_t *reply));
// Adds "NAME WORDS." with the name escaped.
void command_add_sentence(struct context *context, const char *name, const char *words);
// For --json: prints the reply unchanged.
enum outcome command_print_json(struct context *context, const struct reply *reply);

// Sends a request whose answer is received piece by piece.
enum outcome command_stream(struct context *context, const struct request *request);
// Prints an answer byte for byte, as it arrives.
enum outcome command_print_stream(struct context *context, const char *path, const char *accept);

// Returns OUTCOME_DONE to continue with an act that destroys data or changes much. --yes answers in
// advance; without it, and if there is no terminal to ask on, the answer is no. `question` is plain
// text, which is escaped here.
enum outcome command_confirm(struct context *context, const char *question);

// Prints the problem to standard error; nothing if it has no text.
void problem_print(const struct problem *problem);

//
// The JSON object of a request
//

// `text` as a JSON string. NULL with a problem if it is not valid UTF-8; `what` names the text.
json_t *command_json_text(struct context *context, const char *what, const char *text);

// Sets a member and takes ownership of `value`. Exits if memory is exhausted, as need() does.
void object_set(json_t *object, const char *key, json_t *value);
// Nothing if the value is NO_COUNT or negative: an option that is not given.
void object_set_count(json_t *object, const char *key, uint64_t value);
void object_set_seconds(json_t *object, const char *key, double seconds);

#endif
