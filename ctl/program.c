/* SPDX-License-Identifier: MIT */
#include "ctl/program.h"

#include "ctl/command.h"
#include "ctl/complete.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <stdio.h>
#include <string.h>

//
// Help
//

#define COMMAND_COLUMN 17
#define OPTION_COLUMN 24
// Of a help text that is not written to a terminal.
#define WIDTH 80

// Adds `words`, wrapped to lines of at most `width` and indented to the column at which they start.
static void add_wrapped(struct text *out, const char *words, size_t column, size_t width)
{
    size_t at = column;

    while (*words) {
        size_t len = strcspn(words, " ");

        if (at > column && at + 1 + len > width) {
            text_put_char(out, '\n');
            text_fill(out, ' ', column);
            at = column;
        } else if (at > column) {
            text_put_char(out, ' ');
            at++;
        }
        text_add(out, slice_of(words, len));
        at += len;
        words += len + (words[len] == ' ');
    }
    text_put_char(out, '\n');
}

// Pads the text added since `start` up to the column, or adds a line feed if it is longer.
static void add_gap(struct text *out, size_t start, size_t column)
{
    size_t len = out->len - start;

    if (len + 1 >= column) {
        text_put_char(out, '\n');
        len = 0;
    }
    text_fill(out, ' ', column - len);
}

// All commands, with their effects.
static void help_all(struct text *out)
{
    text_put(out, "usage: tandemctl [OPTIONS] COMMAND ...\n\n"
                  "Shows what a Tandem broker does, and changes it, over its admin API.\n\n");
    for (const struct command *command = commands; command->name; command++) {
        size_t start = out->len;

        text_format(out, "  %s", command->name);
        add_gap(out, start, COMMAND_COLUMN);
        add_wrapped(out, command->effect, COMMAND_COLUMN, WIDTH);
    }
    text_put(out, "\ntandemctl COMMAND --help explains a command; tandemctl(1) is the manual.\n");
}

// Adds the options that belong to `groups` but not to `others`.
static void help_options(struct text *out, const char *title, unsigned groups, unsigned others,
                         size_t width)
{
    bool titled = false;

    for (const struct command_option *option = options_table; option->name; option++) {
        size_t start;

        if (!(option->groups & groups) || (option->groups & others)) {
            continue;
        }
        if (!titled) {
            text_format(out, "\n%s\n", title);
            titled = true;
        }
        start = out->len;
        text_put(out, "  ");
        if (option->letter) {
            text_format(out, "-%c, ", option->letter);
        }
        text_format(out, "%s%s%s", option->name, option->value ? " " : "",
                    option->value ? option->value : "");
        add_gap(out, start, OPTION_COLUMN);
        add_wrapped(out, option->effect, OPTION_COLUMN, width);
    }
}

// One command: its operands, effect and options. `width` in columns of the terminal; 0: 80.
static void help_command(struct text *out, const struct command *command, size_t width)
{
    width = width ? width : WIDTH;
    width = width < OPTION_COLUMN + 16 ? OPTION_COLUMN + 16 : width;
    text_format(out, "usage: tandemctl %s%s%s\n\n", command->name, *command->usage ? " " : "",
                command->usage);
    add_wrapped(out, command->effect, 0, width);
    if (command->more) {
        text_put_char(out, '\n');
        add_wrapped(out, command->more, 0, width);
    }
    help_options(out, "Options", command->groups, FOR_ALL, width);
    help_options(out, "Options of all commands", FOR_ALL, 0, width);
}

//
// Commands
//

static enum outcome run_command(struct context *context, const struct command *command)
{
    const struct options *options = context->options;
    const struct client_settings settings = {.address = options->address,
                                             .token_file = options->token_file,
                                             .cacert = options->cacert,
                                             .cert = options->cert,
                                             .key = options->key,
                                             .timeout = options_timeout(options)};
    enum outcome outcome;

    if (context->count < command->least || context->count > command->most) {
        return problem_set(context->problem, OUTCOME_USAGE, "usage: tandemctl %s%s%s",
                           command->name, *command->usage ? " " : "", command->usage);
    }
    if (!command->offline && !client_new(&context->client, &settings, context->problem)) {
        return OUTCOME_USAGE;
    }
    context->command = command;
    outcome = command->run(context);
    client_free(context->client);
    return outcome;
}

static enum outcome print_help(struct context *context, const struct command *command)
{
    if (context->options->version) {
        text_put(&context->out, "tandemctl " TANDEM_VERSION "\n");
    } else if (command) {
        help_command(&context->out, command, context->screen.width);
    } else {
        help_all(&context->out);
    }
    return command_print(context);
}

static enum outcome choose_command(struct context *context, int count, char **arguments)
{
    const struct options *options = context->options;
    const char *name = options->word_count ? options->words[0] : NULL;
    const struct command *command = name ? command_find(name) : NULL;
    enum outcome outcome;

    if (name && strcmp(name, "help") == 0) {
        command = options->word_count > 1 ? command_find(options->words[1]) : NULL;
        return print_help(context, command);
    }
    if (options->version || options->help) {
        return print_help(context, command);
    }
    if (!name) {
        help_all(&context->out);
        (void)fputs(text_string(&context->out), stderr);
        return OUTCOME_USAGE;
    }
    if (!command) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "unknown command \"%s\"; --help lists all commands", name);
    }
    outcome = options_allow(count, arguments, FOR_ALL | command->groups, name, context->problem);
    context->words = options->words + 1;
    context->count = options->word_count - 1;
    return outcome == OUTCOME_DONE ? run_command(context, command) : outcome;
}

// Prints completions for a shell, whose arguments are a position and the words of a command line.
static int run_complete(int count, char **arguments)
{
    struct text out = {0};
    uint64_t position = 0;
    enum complete kind = COMPLETE_WORDS;

    if (count > 1 && units_read_count(arguments[0], &position)) {
        kind = complete_words(&out, position, arguments + 1, (size_t)count - 1);
    }
    (void)screen_write(&out);
    text_free(&out);
    return (int)kind;
}

int program_run(int count, char **arguments)
{
    const char **words = need(calloc((size_t)count + 1, sizeof *words));
    struct options options = {.words = words};
    struct problem problem = {.outcome = OUTCOME_DONE};
    struct context context = {.options = &options, .problem = &problem};
    enum outcome outcome;

    text_set_locale();
    if (count > 0 && strcmp(arguments[0], "complete") == 0) {
        free(words);
        return run_complete(count - 1, arguments + 1);
    }
    screen_find(&context.screen);
    outcome = options_read(&options, count, arguments, &problem);
    if (outcome == OUTCOME_DONE) {
        outcome = choose_command(&context, count, arguments);
    }
    if (outcome != OUTCOME_DONE) {
        problem_print(&problem);
    }
    text_free(&context.out);
    free(words);
    return (int)outcome;
}
