/* SPDX-License-Identifier: MIT */
#include "ctl/complete.h"

#include "core/base/macros.h"
#include "ctl/command.h"
#include "ctl/print/need.h"

#include <string.h>

// The most queues to offer, and the time that the broker has to answer.
#define QUEUES_MOST 500
#define TIMEOUT_SECONDS 1.0

// The command line and the word to complete.
struct completion {
    struct text *out;
    char **words; // words before the current one, without the program
    size_t count;
    const char *current;
    const struct command *command; // NULL: not given yet
    size_t operands;               // words before the current one, without options and the command
};

static void offer(const struct completion *line, const char *before, const char *word)
{
    struct text whole = {0};

    text_put(&whole, before);
    text_put(&whole, word);
    if (strncmp(text_string(&whole), line->current, strlen(line->current)) == 0) {
        text_format(line->out, "%s\n", text_string(&whole));
    }
    text_free(&whole);
}

//
// Queues
//

// The option `word` if its value is the next word, otherwise NULL.
static const struct command_option *option_wanting_value(const char *word)
{
    const struct command_option *option = word[0] == '-' ? options_find(word, strlen(word)) : NULL;

    return option && option->kind != OPTION_FLAG ? option : NULL;
}

static void offer_queues_from(const struct completion *line, struct client *client,
                              const char *before, const char *prefix)
{
    struct text glob = {0};
    struct text path = {0};
    struct reply reply = {0};
    struct problem problem;

    for (const char *at = prefix; *at; at++) {
        text_put(&glob, strchr("*?[\\", *at) ? "\\" : "");
        text_put_char(&glob, *at);
    }
    text_put_char(&glob, '*');
    text_put(&path, "/api/v1/queues");
    path_add_text(&path, "name", text_string(&glob));
    path_add_number(&path, "limit", QUEUES_MOST);
    if (call(client, "GET", text_string(&path), NULL, &reply, &problem) == OUTCOME_DONE) {
        const json_t *queues = field_get(reply.json, "queues");

        for (size_t i = 0; i < json_array_size(queues); i++) {
            struct slice name = field_text(json_array_get(queues, i), "name");

            // Names with unprintable characters or line feeds are not offered.
            if (text_is_readable(name) && !memchr(name.ptr, '\n', name.len)) {
                offer(line, before, name.ptr);
            }
        }
    }
    reply_free(&reply);
    text_free(&glob);
    text_free(&path);
}

static void offer_queues(const struct completion *line, const char *before, const char *prefix)
{
    const char **operands = need(calloc(line->count + 1, sizeof *operands));
    struct options options = {.words = operands};
    struct client_settings settings;
    struct client *client;
    struct problem problem;

    (void)options_read(&options, (int)line->count, line->words, &problem);
    settings = (struct client_settings){.address = options.address,
                                        .token_file = options.token_file,
                                        .cacert = options.cacert,
                                        .cert = options.cert,
                                        .key = options.key,
                                        .timeout = options.timeout > 0 ? options.timeout
                                                                       : TIMEOUT_SECONDS};
    if (client_new(&client, &settings, &problem)) {
        offer_queues_from(line, client, before, prefix);
        client_free(client);
    }
    free(operands);
}

//
// Words
//

// Offers the words of the option, after the words already given before the last comma.
static void offer_words(const struct completion *line, const char *before, const char *list,
                        const char *written)
{
    const char *comma = strchr(list, '+') ? strrchr(written, ',') : NULL;
    struct text start = {0};
    struct text word = {0};

    text_put(&start, before);
    text_add(&start, slice_of(written, comma ? (size_t)(comma + 1 - written) : 0));
    while (*list) {
        size_t len = strcspn(list, " +");

        text_cut(&word, 0);
        text_add(&word, slice_of(list, len));
        offer(line, text_string(&start), text_string(&word));
        list += len;
        list += strspn(list, " +");
    }
    text_free(&start);
    text_free(&word);
}

static enum complete offer_value(const struct completion *line, const struct command_option *option,
                                 const char *before, const char *written)
{
    if (option->words) {
        offer_words(line, before, option->words, written);
    } else if (strcmp(option->value, "QUEUE") == 0) {
        offer_queues(line, before, written);
    } else if (strcmp(option->value, "FILE") == 0) {
        return COMPLETE_FILES;
    }
    return COMPLETE_WORDS;
}

static enum complete offer_options(const struct completion *line)
{
    unsigned groups = FOR_ALL | (line->command ? line->command->groups : 0);
    size_t len = strcspn(line->current, "=");
    const struct command_option *written =
        line->current[len] ? options_find(line->current, len) : NULL;

    if (written && written->kind != OPTION_FLAG) {
        struct text before = {0};
        enum complete complete;

        text_add(&before, slice_of(line->current, len + 1));
        complete = offer_value(line, written, text_string(&before), line->current + len + 1);
        text_free(&before);
        return complete;
    }
    for (const struct command_option *option = options_table; option->name; option++) {
        if (option->groups & groups) {
            offer(line, "", option->name);
        }
    }
    return COMPLETE_WORDS;
}

static enum complete offer_operand(const struct completion *line)
{
    switch (line->command->words) {
    case WORD_QUEUE:
        if (line->operands == 0) {
            offer_queues(line, "", line->current);
        }
        return COMPLETE_WORDS;
    case WORD_FILE:
        return COMPLETE_FILES;
    case WORD_SWITCH:
        offer(line, "", "on");
        offer(line, "", "off");
        return COMPLETE_WORDS;
    case WORD_OFF:
        offer(line, "", "off");
        return COMPLETE_WORDS;
    case WORD_POLICY:
        if (line->operands == 0) {
            offer_words(line, "", "show set delete", line->current);
        }
        return COMPLETE_WORDS;
    case WORD_JOB:
    case WORD_OTHER:
        return COMPLETE_WORDS;
    }
    UNREACHABLE();
}

// Finds the command and counts the operands after it.
static void find_command(struct completion *line)
{
    bool named = false;

    for (size_t i = 0; i < line->count; i++) {
        if (option_wanting_value(line->words[i])) {
            i++;
        } else if (line->words[i][0] != '-' && !named) {
            named = true;
            line->command = command_find(line->words[i]);
        } else if (line->words[i][0] != '-') {
            line->operands++;
        }
    }
}

enum complete complete_words(struct text *out, size_t position, char **words, size_t count)
{
    struct completion line = {.out = out, .words = words + 1};
    const struct command_option *option;

    if (position == 0 || position > count) {
        return COMPLETE_WORDS;
    }
    line.count = position - 1;
    line.current = position < count ? words[position] : "";
    find_command(&line);
    option = line.count > 0 ? option_wanting_value(words[position - 1]) : NULL;
    if (option) {
        return offer_value(&line, option, "", line.current);
    }
    if (line.current[0] == '-') {
        return offer_options(&line);
    }
    if (!line.command) {
        for (const struct command *command = commands; command->name; command++) {
            offer(&line, "", command->name);
        }
        return COMPLETE_WORDS;
    }
    return offer_operand(&line);
}
