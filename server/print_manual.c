/* SPDX-License-Identifier: MIT */
// Generates the manual page of the configuration file, tandemd.conf(5), from the tables of options
// and a template. A line `@SECTION@` of the template stands for the keys of that section, or of
// that kind of sections with a name. Runs while the project is built, and is not installed.
//
//     print_manual < TEMPLATE > PAGE
#include "server/config/setting.h"
#include "server/config/settings.h"

#include <stdio.h>
#include <string.h>

// The longest line of the template, with its end.
enum { LINE_ROOM = 256 };

// Escapes the text for roff.
static void manual_print_text(const char *text, FILE *page)
{
    for (; *text; text++) {
        if (*text == '\\') {
            (void)fputs("\\e", page);
        } else if (*text == '-') {
            (void)fputs("\\-", page);
        } else {
            (void)fputc(*text, page);
        }
    }
}

static void manual_print_bound(const struct option *option, int64_t value, FILE *page)
{
    const struct option plain = {.kind =
                                     option->kind == OPTION_COUNT ? OPTION_NUMBER : option->kind};

    setting_print(&plain, &value, page);
}

static void manual_print_range(const struct option *option, const char *what, FILE *page)
{
    (void)fprintf(page, "%s from ", what);
    manual_print_bound(option, option->min, page);
    (void)fputs(" to ", page);
    manual_print_bound(option, option->max, page);
    (void)fputs(option->has_auto ? ", or auto.\n" : ".\n", page);
}

static void manual_print_choices(const char *choices, FILE *page)
{
    (void)fputs("One of ", page);
    for (; *choices; choices++) {
        if (*choices == '|') {
            (void)fputs(", ", page);
        } else {
            (void)fputc(*choices, page);
        }
    }
    (void)fputs(".\n", page);
}

// Prints the possible values of the option's kind.
static void manual_print_kind(const struct option *option, FILE *page)
{
    switch (option->kind) {
    case OPTION_SIZE:
        manual_print_range(option, "A size", page);
        return;
    case OPTION_NUMBER:
    case OPTION_COUNT:
        manual_print_range(option, "A number", page);
        return;
    case OPTION_BOOL:
        (void)fputs("One of true, false.\n", page);
        return;
    case OPTION_TEXT:
        return;
    case OPTION_CHOICE:
        manual_print_choices(option->choices, page);
        return;
    case OPTION_DURATION:
        manual_print_range(option, "A duration", page);
        return;
    case OPTION_RATE:
        (void)fputs("A rate such as 100/s, 5/m, 2/h or 1/d.\n", page);
        return;
    case OPTION_SHARE:
        (void)fputs("A number from 0 to 1.\n", page);
        return;
    }
    UNREACHABLE();
}

static void manual_print_keys(const struct option *option, FILE *page)
{
    for (; option->name; option++) {
        if (option->section) {
            continue;
        }
        (void)fprintf(page, ".TP\n.B %s = ", option->name);
        manual_print_text(option->default_value, page);
        (void)fputc('\n', page);
        manual_print_text(option->effect, page);
        (void)fputc('\n', page);
        manual_print_kind(option, page);
        (void)fputs(option->live ? "Live.\n" : "Needs a restart.\n", page);
    }
}

// Prints the keys of all tables of the section; false if there is none.
static bool manual_print_section(const struct config *config, const char *section, FILE *page)
{
    bool found = false;

    for (size_t i = 0; i < config->count; i++) {
        if (strcmp(config->tables[i].section, section) == 0) {
            manual_print_keys(config->tables[i].options, page);
            found = true;
        }
    }
    for (size_t i = 0; i < config->kinds; i++) {
        if (strcmp(config->named[i].kind->word, section) == 0) {
            manual_print_keys(config->named[i].kind->options, page);
            found = true;
        }
    }
    return found;
}

// The number of sections; a section of several tables counts once.
static size_t manual_count_sections(const struct config *config)
{
    size_t count = config->kinds;

    for (size_t i = 0; i < config->count; i++) {
        size_t first = 0;

        while (strcmp(config->tables[first].section, config->tables[i].section) != 0) {
            first++;
        }
        count += first == i;
    }
    return count;
}

// Copies the template to the page, and inserts the keys. False with the reason in `why` if a
// section has no line in the template, or a line names an unknown section.
static bool manual_print(const struct config *config, FILE *template, FILE *page,
                         struct error_text *why)
{
    size_t missing = manual_count_sections(config);
    char line[LINE_ROOM];

    while (fgets(line, sizeof line, template)) {
        char section[LINE_ROOM] = "";

        if (sscanf(line, "@%255[^@]@", section) != 1) {
            (void)fputs(line, page);
            continue;
        }
        if (!manual_print_section(config, section, page) || missing == 0) {
            return error_set(why, "@%s@: unknown section", section);
        }
        missing--;
    }
    if (missing > 0) {
        return error_set(why, "%zu sections are missing", missing);
    }
    return true;
}

int main(void)
{
    const struct settings_source source = {.path = NULL};
    struct error_text why;
    struct settings *settings = settings_load(&source, &why);
    bool good = settings && manual_print(&settings->config, stdin, stdout, &why);

    settings_free(settings);
    if (!good || fflush(stdout) != 0) {
        (void)fprintf(stderr, "print_manual: %s\n", good ? "standard output is full" : why.text);
        return 1;
    }
    return 0;
}
