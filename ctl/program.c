/* SPDX-License-Identifier: MIT */
#include "ctl/program.h"

#include "ctl/command.h"
#include "ctl/complete.h"
#include "ctl/help.h"
#include "ctl/print/text.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <stdio.h>
#include <string.h>

static enum outcome check_words(const struct context *context, const struct command *command)
{
    if (context->count < command->least || context->count > command->most) {
        return problem_set(context->problem, OUTCOME_USAGE, "usage: tandemctl %s%s%s",
                           command->name, *command->usage ? " " : "", command->usage);
    }
    return OUTCOME_DONE;
}

static enum outcome connect(struct context *context)
{
    const struct options *options = context->options;
    const struct client_settings settings = {.address = options->address,
                                             .token_file = options->token_file,
                                             .cacert = options->cacert,
                                             .cert = options->cert,
                                             .key = options->key,
                                             .timeout = options->timeout};

    return client_new(&context->client, &settings, context->problem) ? OUTCOME_DONE : OUTCOME_USAGE;
}

static enum outcome run(struct context *context, const struct command *command)
{
    enum outcome outcome = check_words(context, command);

    context->command = command;
    if (outcome == OUTCOME_DONE && !command->offline) {
        outcome = connect(context);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = command->run(context);
    }
    client_free(context->client);
    return outcome;
}

static enum outcome help(struct context *context, const struct command *command)
{
    if (context->options->version) {
        text_put(&context->out, "tandemctl " TANDEM_VERSION "\n");
    } else if (command) {
        help_command(&context->out, command, context->screen.width);
    } else {
        help_all(&context->out);
    }
    return print(context);
}

static enum outcome choose(struct context *context, int count, char **arguments)
{
    const struct options *options = context->options;
    const char *name = options->word_count ? options->words[0] : NULL;
    const struct command *command = name ? command_find(name) : NULL;
    enum outcome outcome;

    if (name && strcmp(name, "help") == 0) {
        command = options->word_count > 1 ? command_find(options->words[1]) : NULL;
        return help(context, command);
    }
    if (options->version || options->help) {
        return help(context, command);
    }
    if (!name) {
        help_all(&context->out);
        (void)fputs(text_string(&context->out), stderr);
        return OUTCOME_USAGE;
    }
    if (!command) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "there is no command \"%s\"; --help lists those that there are", name);
    }
    outcome = options_allow(count, arguments, FOR_ALL | command->groups, name, context->problem);
    context->words = options->words + 1;
    context->count = options->word_count - 1;
    return outcome == OUTCOME_DONE ? run(context, command) : outcome;
}

static int run_complete(int count, char **arguments)
{
    struct text out = {0};
    uint64_t position = 0;
    enum complete kind = COMPLETE_WORDS;

    if (count > 1 && units_read_count(arguments[0], &position)) {
        kind = complete(&out, position, arguments + 1, (size_t)count - 1);
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
        outcome = choose(&context, count, arguments);
    }
    if (outcome != OUTCOME_DONE) {
        complain(&problem);
    }
    text_free(&context.out);
    free(words);
    return (int)outcome;
}
