/* SPDX-License-Identifier: MIT */
#include "ctl/help.h"

#include <string.h>

#define COMMAND_COLUMN 17
#define OPTION_COLUMN 24
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

void help_all(struct text *out)
{
    text_put(out, "usage: tandemctl [OPTIONS] COMMAND ...\n\n"
                  "Shows what a Tandem broker does, and changes it, over its admin API.\n\n");
    for (const struct command *command = commands; command->name; command++) {
        size_t start = out->len;

        text_format(out, "  %s", command->name);
        add_gap(out, start, COMMAND_COLUMN);
        add_wrapped(out, command->effect, COMMAND_COLUMN, WIDTH);
    }
    text_put(out, "\ntandemctl COMMAND --help says more of each; tandemctl(1) says it all.\n");
}

static void add_option(struct text *out, const struct option *option, size_t width)
{
    size_t start = out->len;

    text_put(out, "  ");
    if (option->letter) {
        text_format(out, "-%c, ", option->letter);
    }
    text_format(out, "%s%s%s", option->name, option->value ? " " : "",
                option->value ? option->value : "");
    add_gap(out, start, OPTION_COLUMN);
    add_wrapped(out, option->effect, OPTION_COLUMN, width);
}

static void add_options(struct text *out, const char *title, unsigned groups, unsigned but,
                        size_t width)
{
    bool titled = false;

    for (const struct option *option = options_table; option->name; option++) {
        if ((option->groups & groups) && !(option->groups & but)) {
            if (!titled) {
                text_format(out, "\n%s\n", title);
                titled = true;
            }
            add_option(out, option, width);
        }
    }
}

void help_command(struct text *out, const struct command *command, size_t width)
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
    add_options(out, "Options", command->groups, FOR_ALL, width);
    add_options(out, "Options of all commands", FOR_ALL, 0, width);
}
