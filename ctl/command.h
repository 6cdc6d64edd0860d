/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_COMMAND_H
#define TANDEM_CTL_COMMAND_H

// What a command is, and what it is given. A command prints what it has to say to standard output;
// why it ends otherwise than well is its problem, which the program prints.

#include "ctl/api/call.h"
#include "ctl/options.h"
#include "ctl/print/screen.h"
#include "ctl/print/text.h"

#include <stdbool.h>
#include <stddef.h>

struct command;

struct context {
    const struct command *command; // the one that runs
    const struct options *options;
    const char **words; // what the command is about
    size_t count;
    struct client *client; // NULL for a command that needs no broker
    struct screen screen;
    struct text out; // what is to be printed next; print() does it
    struct problem *problem;
};

// What the words of a command are, for completion.
enum word_kind { WORD_OTHER, WORD_QUEUE, WORD_JOB, WORD_FILE, WORD_SWITCH, WORD_OFF, WORD_POLICY };

struct command {
    const char *name;
    const char *usage; // its words
    size_t least, most;
    enum word_kind words;
    unsigned groups; // of options
    bool offline;    // it needs no broker
    enum outcome (*run)(struct context *context);
    const char *effect; // in a line
    const char *more;   // in some; NULL: the line says all
};

// All of them; the row without a name is the end.
extern const struct command commands[];

const struct command *command_find(const char *name);

// Writes out what is to be printed.
enum outcome print(struct context *context);

// A call of the API; the reply is to be freed whatever comes. Takes the body over.
enum outcome ask(struct context *context, const char *method, const char *path, json_t *body,
                 struct reply *reply);
// With --json: prints the reply as it came.
enum outcome print_json(struct context *context, const struct reply *reply);

// The same where an answer comes piece by piece, as the request says.
enum outcome ask_stream(struct context *context, const struct request *request);
// Prints an answer byte for byte, as it comes.
enum outcome print_stream(struct context *context, const char *path, const char *accept);

// Says what went wrong, to people; nothing where the problem has no text.
void complain(const struct problem *problem);

// That text as JSON; NULL with a problem where it is no UTF-8.
json_t *json_of(struct context *context, const char *what, const char *text);

#endif
