/* SPDX-License-Identifier: MIT */
#include "server/config/gearmand_options.h"

#include "server/config/gearmand_table.h"
#include "server/config/persona_own.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE "/etc/gearmand.conf"
#define BETWEEN " \n\r"

// The most bytes of a configuration file.
enum { FILE_MOST = 1 << 16 };

// Arguments that are being read. They are gone through twice: form before values.
struct reader {
    struct gearmand_options *options;
    struct command_line *command; // NULL: our own options are not known, as in gearmand's file
    struct words *said;
    const char *seen[GEARMAND_OPTIONS]; // in these arguments
    bool takes;                         // values: the second time
    struct error_text *why;
};

static bool is_whole(const char *text, int64_t least, int64_t most)
{
    char *end;
    intmax_t number;

    if (text[0] != '-' && text[0] != '+' && (text[0] < '0' || text[0] > '9')) {
        return false;
    }
    errno = 0;
    number = strtoimax(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && number >= least && number <= most;
}

static bool reader_take(struct reader *reader, enum gearmand_name name, const char *value)
{
    const struct gearmand_option *option = &gearmand_table[name];
    bool good = true;

    if (!reader->takes) {
        return true;
    }
    if (reader->seen[name]) {
        return error_set(reader->why, "option '--%s' cannot be specified more than once",
                         option->name);
    }
    if (option->kind == GEARMAND_INT) {
        good = is_whole(value, INT32_MIN, INT32_MAX);
    } else if (option->kind == GEARMAND_UINT) {
        good = is_whole(value, -(int64_t)UINT32_MAX, UINT32_MAX);
    }
    if (!good) {
        return error_set(reader->why, "the argument ('%s') for option '--%s' is invalid", value,
                         option->name);
    }
    reader->seen[name] = value;
    if (!reader->options->values[name]) {
        reader->options->values[name] = value;
    }
    return true;
}

static bool reader_misses(struct reader *reader, enum gearmand_name name)
{
    return error_set(reader->why, "the required argument for option '--%s' is missing",
                     gearmand_table[name].name);
}

static bool reader_refuse(struct reader *reader, const char *arg)
{
    if (*arg) {
        error_set(reader->why, "unrecognised option '%s'", arg);
    } else {
        error_set(reader->why, "unrecognised option");
    }
    return false;
}

static enum gearmand_name find_word(const char *word, size_t len)
{
    unsigned name = 0;

    while (name < GEARMAND_OPTIONS && (strlen(gearmand_table[name].name) != len ||
                                       memcmp(gearmand_table[name].name, word, len) != 0)) {
        name++;
    }
    return (enum gearmand_name)name;
}

static enum gearmand_name find_letter(char letter)
{
    unsigned name = 0;

    while (name < GEARMAND_OPTIONS && gearmand_table[name].letter != letter) {
        name++;
    }
    return (enum gearmand_name)name;
}

// --word, --word=value or --word value. `*used`: the next argument is its value.
static bool read_word(struct reader *reader, const char *arg, const char *next, bool *used)
{
    size_t len = strcspn(arg + 2, "=");
    const char *value = arg[2 + len] == '=' ? arg + 2 + len + 1 : NULL;
    enum gearmand_name name = find_word(arg + 2, len);

    if (name == GEARMAND_OPTIONS) {
        return reader_refuse(reader, arg);
    }
    if (gearmand_table[name].kind == GEARMAND_FLAG) {
        if (value) {
            return error_set(reader->why, "option '--%s' does not take any arguments",
                             gearmand_table[name].name);
        }
        return reader_take(reader, name, "");
    }
    if (value && *value == '\0') {
        return error_set(
            reader->why,
            "the argument for option '--%s' should follow immediately after the equal sign",
            gearmand_table[name].name);
    }
    *used = !value;
    value = value ? value : next;
    return value ? reader_take(reader, name, value) : reader_misses(reader, name);
}

// Letters in a row, of which the last may have a value, or what is behind it. One that is not known
// makes the whole unknown.
static bool read_letters(struct reader *reader, const char *arg, const char *next, bool *used)
{
    const char *at = arg + 1;
    enum gearmand_name name;

    for (; *at; at++) {
        name = find_letter(*at);
        if (name == GEARMAND_OPTIONS) {
            return reader_refuse(reader, arg);
        }
        if (gearmand_table[name].kind != GEARMAND_FLAG) {
            break;
        }
    }
    for (at = arg + 1; *at; at++) {
        name = find_letter(*at);
        if (gearmand_table[name].kind != GEARMAND_FLAG) {
            const char *value = at[1] ? at + 1 : next;

            *used = at[1] == '\0';
            return value ? reader_take(reader, name, value) : reader_misses(reader, name);
        }
        if (!reader_take(reader, name, "")) {
            return false;
        }
    }
    return true;
}

// A word of gearmand's file that is no option. gearmand says nothing of it; whoever wrote it meant
// something, so it is told of.
static bool reader_pass_over(struct reader *reader, const char *word)
{
    if (reader->takes && reader->options->bare_count++ == 0) {
        reader->options->bare = word;
    }
    return true;
}

// One argument; in gearmand's file, what is no option is passed over.
static bool read_arg(struct reader *reader, char **args, bool *used, bool *ended)
{
    const char *arg = args[0];
    enum own_option own = reader->command && !*ended
                              ? persona_own_take(reader->command, reader->said, arg, args[1])
                              : OWN_NONE;

    *used = own == OWN_VALUED;
    if (own == OWN_TAKEN || own == OWN_VALUED) {
        return true;
    }
    if (own == OWN_MISSING) {
        return error_set(reader->why, "the required argument for option '%s' is missing", arg);
    }
    if (*ended || arg[0] != '-' || arg[1] == '\0') {
        return reader->command ? reader_refuse(reader, arg) : reader_pass_over(reader, arg);
    }
    if (strcmp(arg, "--") == 0) {
        *ended = true;
        return true;
    }
    return arg[1] == '-' ? read_word(reader, arg, args[1], used)
                         : read_letters(reader, arg, args[1], used);
}

static bool read_through(struct reader *reader, char **args)
{
    bool ended = false;

    for (size_t i = 0; args[i]; i++) {
        bool used = false;

        if (!read_arg(reader, args + i, &used, &ended)) {
            return false;
        }
        i += used ? 1 : 0;
    }
    return true;
}

static bool read_twice(struct reader *reader, char **args)
{
    if (!read_through(reader, args)) {
        return false;
    }
    reader->takes = true;
    // The first time was for the form only.
    if (reader->said) {
        words_clear(reader->said);
    }
    return read_through(reader, args);
}

// NUL-terminated; NULL where it is not there, is too long, or without memory.
static char *read_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char *text = fd >= 0 ? malloc(FILE_MOST + 1) : NULL;
    size_t len = 0;
    ssize_t n = 1;

    while (text && n > 0 && len < FILE_MOST) {
        n = read(fd, text + len, FILE_MOST - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (text && (n < 0 || len == FILE_MOST)) {
        free(text);
        text = NULL;
    }
    if (text) {
        text[len] = '\0';
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return text;
}

// The words of the text, which they stay in; ends with NULL. NULL without memory.
static char **cut_words(char *text)
{
    char **words = calloc(strlen(text) / 2 + 2, sizeof *words);
    size_t count = 0;

    for (char *at = text + strspn(text, BETWEEN); words && *at; at += strspn(at, BETWEEN)) {
        words[count++] = at;
        at += strcspn(at, BETWEEN);
        if (*at) {
            *at++ = '\0';
        }
    }
    return words;
}

// Its own default file need not be there.
static bool read_file(struct gearmand_options *options, struct error_text *why)
{
    const char *path = options->values[GEARMAND_CONFIG_FILE];
    struct reader reader = {.options = options, .why = why};
    char **words;
    bool good;

    options->file = read_text(path ? path : DEFAULT_FILE);
    if (!options->file) {
        error_set(why, "Could not open configuration file.");
        return !path || strcmp(path, DEFAULT_FILE) == 0;
    }
    words = cut_words(options->file);
    if (!words) {
        return error_set(why, "out of memory");
    }
    good = read_twice(&reader, words);
    free(words);
    return good;
}

enum exit_reason gearmand_options_read(struct gearmand_options *options,
                                       struct command_line *command, struct words *said, int argc,
                                       char **argv, struct error_text *why)
{
    struct reader reader = {.options = options, .command = command, .said = said, .why = why};

    *options = (struct gearmand_options){.file = NULL};
    if ((argc > 0 && !read_twice(&reader, argv + 1)) || !read_file(options, why)) {
        return EXIT_REASON_USAGE;
    }
    return EXIT_REASON_NONE;
}

void gearmand_options_clear(struct gearmand_options *options)
{
    free(options->file);
    *options = (struct gearmand_options){.file = NULL};
}

int64_t gearmand_options_signed(const struct gearmand_options *options, enum gearmand_name name)
{
    return strtoimax(options->values[name], NULL, 10);
}

int64_t gearmand_options_number(const struct gearmand_options *options, enum gearmand_name name)
{
    int64_t number = gearmand_options_signed(options, name);

    return number < 0 && gearmand_table[name].kind == GEARMAND_UINT
               ? number + INT64_C(1) + UINT32_MAX
               : number;
}

void gearmand_options_note(const struct gearmand_options *options, enum gearmand_name name,
                           const char *reason, struct words *notes)
{
    if (options->values[name]) {
        words_add(notes, "--%s is ignored: %s", gearmand_table[name].name, reason);
    }
}

void gearmand_options_map(const struct gearmand_options *options, struct words *settings,
                          struct words *notes)
{
    for (unsigned name = 0; name < GEARMAND_OPTIONS; name++) {
        const struct gearmand_option *option = &gearmand_table[name];
        const char *value = options->values[name];

        if (value && option->key) {
            words_add(settings, "%s=%s", option->key,
                      option->kind == GEARMAND_FLAG ? "true" : value);
        }
        if (option->note) {
            gearmand_options_note(options, (enum gearmand_name)name, option->note, notes);
        }
    }
    if (options->bare_count == 1) {
        words_add(notes,
                  "'%s' in the configuration file is ignored: it is no option, which begins "
                  "with --",
                  options->bare);
    } else if (options->bare_count > 1) {
        words_add(notes,
                  "'%s' and %u more words in the configuration file are ignored: they are no "
                  "options, which begin with --",
                  options->bare, options->bare_count - 1);
    }
}

void gearmand_options_print(FILE *stream)
{
    for (unsigned name = 0; name < GEARMAND_OPTIONS; name++) {
        const struct gearmand_option *option = &gearmand_table[name];
        const char *arg = option->kind == GEARMAND_FLAG ? "" : " arg";
        char words[64];

        if (option->letter) {
            (void)snprintf(words, sizeof words, "-%c [ --%s ]%s", option->letter, option->name,
                           arg);
        } else {
            (void)snprintf(words, sizeof words, "--%s%s", option->name, arg);
        }
        (void)fprintf(stream, "  %-36s  %s\n", words, option->help);
    }
}
