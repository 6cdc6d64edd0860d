/* SPDX-License-Identifier: MIT */
#include "server/config/config.h"

#include "core/base/log.h"
#include "os/small_file.h"
#include "server/config/sections.h"
#include "server/config/setting.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Longest value in a log line, with its NUL.
enum { LOGGED_VALUE_ROOM = 256 };

bool config_preset(const struct config *config, struct error_text *why)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            if (!setting_parse(option, table->values, option->default_value, why)) {
                return error_prefix(why, "%s.%s: ", table->section, option->name);
            }
        }
    }
    return true;
}

// Whether there is a table for that section.
static bool config_has(const struct config *config, const char *section)
{
    for (size_t i = 0; i < config->count; i++) {
        if (strcmp(config->tables[i].section, section) == 0) {
            return true;
        }
    }
    return false;
}

struct config_sections *config_kind_of(const struct config *config, const char *text,
                                       const char **name)
{
    for (size_t i = 0; i < config->kinds; i++) {
        *name = section_name(config->named[i].kind, text);
        if (*name) {
            return &config->named[i];
        }
    }
    return NULL;
}

static bool config_table_set(const struct config_table *table, const char *section,
                             const char *name, const char *text, bool *known,
                             struct error_text *why)
{
    for (const struct option *option = table->options; option->name; option++) {
        if (strcmp(option->section ? option->section : table->section, section) != 0 ||
            strcmp(option->name, name) != 0) {
            continue;
        }
        *known = true;
        if ((table->check && !table->check(option, text, why)) ||
            !setting_parse(option, table->values, text, why)) {
            return error_prefix(why, "%s: ", name);
        }
    }
    return true;
}

bool config_set(const struct config *config, const char *section, const char *name,
                const char *text, struct error_text *why)
{
    bool known = false;

    for (size_t i = 0; i < config->count; i++) {
        if (!config_table_set(&config->tables[i], section, name, text, &known, why)) {
            return false;
        }
    }
    if (!known && config_has(config, section)) {
        error_set(why, "there is no key `%s` in section [%s]", name, section);
    } else if (!known) {
        error_set(why, "there is no section [%s]", section);
    }
    return known;
}

bool config_finish(const struct config *config, struct error_text *why)
{
    for (size_t i = 0; i < config->kinds; i++) {
        if (!sections_finish(&config->named[i], why)) {
            return false;
        }
    }
    return true;
}

void config_print(const struct config *config, FILE *file)
{
    const char *section = "";

    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        if (strcmp(section, table->section) != 0) {
            (void)fprintf(file, "%s[%s]\n", i ? "\n" : "", table->section);
            section = table->section;
        }
        for (const struct option *option = table->options; option->name; option++) {
            if (!option->section) {
                (void)fprintf(file, "%s = ", option->name);
                setting_print(option, table->values, file);
                (void)fputc('\n', file);
            }
        }
    }
    for (size_t i = 0; i < config->kinds; i++) {
        sections_print(&config->named[i], file);
    }
}

static void config_log_change(const struct config_table *table, const struct option *option,
                              const void *fresh)
{
    char before[LOGGED_VALUE_ROOM];
    char after[LOGGED_VALUE_ROOM];

    if (option->section) {
        return; // the section that has the key logs it
    }
    setting_text(option, table->values, before, sizeof before);
    setting_text(option, fresh, after, sizeof after);
    LOG_AT(option->live ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
           option->live ? "setting_changed" : "setting_needs_restart",
           log_string("section", table->section), log_string("key", option->name),
           log_string("old", before), log_string("new", after));
}

void config_adopt(const struct config *config, const struct config *fresh)
{
    ENSURE(config->count == fresh->count);
    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            if (setting_equal(option, table->values, fresh->tables[i].values)) {
                continue;
            }
            config_log_change(table, option, fresh->tables[i].values);
            if (option->live) {
                setting_swap(option, table->values, fresh->tables[i].values);
            }
        }
    }
    ENSURE(config->kinds == fresh->kinds);
    for (size_t i = 0; i < config->kinds; i++) {
        sections_adopt(&config->named[i], &fresh->named[i]);
    }
}

void config_clear(const struct config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            setting_clear(option, table->values);
        }
    }
    for (size_t i = 0; i < config->kinds; i++) {
        sections_clear(&config->named[i]);
    }
}

//
// The environment
//

#define VARIABLE_PREFIX "TANDEM_"

// Removes the text, in upper case, from the beginning of the name; false if the name does not begin
// with it.
static bool variable_skip(const char **name, const char *text)
{
    for (; *text; text++, (*name)++) {
        if (**name != toupper((unsigned char)*text)) {
            return false;
        }
    }
    return true;
}

// The option whose variable, with the suffix, has that name; NULL if there is none.
static const struct option *variable_option(const struct config *config, const char *name,
                                            const char *suffix, const char **section)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            const char *rest = name + strlen(VARIABLE_PREFIX);

            *section = option->section ? option->section : table->section;
            if (variable_skip(&rest, *section) && variable_skip(&rest, "_") &&
                variable_skip(&rest, option->name) && variable_skip(&rest, suffix) &&
                *rest == '\0') {
                return option;
            }
        }
    }
    return NULL;
}

static bool variable_ends_with(const char *name, const char *end)
{
    size_t len = strlen(name);

    return len >= strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

// Whether the variable is not for the broker. It may be one of tandemctl's. For a service called
// `tandem` or `tandem-x`, Kubernetes adds variables such as TANDEM_SERVICE_HOST,
// TANDEM_X_SERVICE_PORT_HTTP, TANDEM_PORT=tcp://... and TANDEM_PORT_8080_TCP_ADDR. Docker's links
// add some like the last two, TANDEM_NAME=/us/tandem, and TANDEM_ENV_... for each variable of the
// other container. No setting has such a name.
static bool variable_is_foreign(const char *name, const char *value)
{
    static const char port[] = "_PORT_";
    const char *found = strstr(name, port);

    return strcmp(name, VARIABLE_PREFIX "ADDRESS") == 0 ||
           strcmp(name, VARIABLE_PREFIX "TOKEN") == 0 ||
           variable_ends_with(name, "_SERVICE_HOST") || variable_ends_with(name, "_SERVICE_PORT") ||
           strstr(name, "_SERVICE_PORT_") ||
           (variable_ends_with(name, "_PORT") && strstr(value, "://")) ||
           (variable_ends_with(name, "_NAME") && *value == '/') || strstr(name, "_ENV_") ||
           (found && isdigit((unsigned char)found[strlen(port)]));
}

// Sets the key whose value is in the file of TANDEM_SECTION_KEY_FILE.
static bool variable_apply_file(const struct config *config, const char *name, const char *path,
                                bool waits, struct error_text *why)
{
    const char *section;
    const struct option *option = variable_option(config, name, "_file", &section);
    int plain_len = (int)(strlen(name) - strlen("_FILE"));
    struct small_file file;
    bool good;

    if (!option) {
        return error_set(why,
                         "there is no such setting: TANDEM_SECTION_KEY sets `key` in [section]");
    }
    if (option->is_file) {
        return error_set(why, "%s is the path of a file already: set %.*s", option->name, plain_len,
                         name);
    }
    if (!setting_read_line(path, waits, &file, why)) {
        return false;
    }
    good = config_set(config, section, option->name, file.bytes, why);
    small_file_free(&file);
    return good;
}

// Whether the list has the variable NAME_FILE.
static bool variable_has_file(const char *const *environment, const char *name)
{
    size_t len = strlen(name);

    for (; *environment; environment++) {
        if (strncmp(*environment, name, len) == 0 &&
            strncmp(*environment + len, "_FILE=", strlen("_FILE=")) == 0) {
            return true;
        }
    }
    return false;
}

static bool variable_apply(const struct config *config, const char *const *environment,
                           const char *name, const char *value, bool waits, struct error_text *why)
{
    const char *section;
    const struct option *option = variable_option(config, name, "", &section);

    if (!option) {
        return variable_apply_file(config, name, value, waits, why);
    }
    if (variable_has_file(environment, name)) {
        return error_set(why, "%s_FILE is set, too", name);
    }
    return config_set(config, section, option->name, value, why);
}

bool config_set_from_environment(const struct config *config, const char *const *environment,
                                 bool waits, size_t *count, struct error_text *why)
{
    bool good = true;

    *count = 0;
    for (const char *const *text = environment; *text && good; text++) {
        const char *sign = strchr(*text, '=');
        char *name;

        if (!sign || strncmp(*text, VARIABLE_PREFIX, strlen(VARIABLE_PREFIX)) != 0) {
            continue;
        }
        name = strndup(*text, (size_t)(sign - *text));
        if (!name) {
            return error_set(why, "out of memory");
        }
        if (!variable_is_foreign(name, sign + 1)) {
            good = variable_apply(config, environment, name, sign + 1, waits, why) ||
                   error_prefix(why, "%s in the environment: ", name);
            *count += 1;
        }
        free(name);
    }
    return good;
}

//
// --set
//

#define KEY_BYTES "abcdefghijklmnopqrstuvwxyz_"

// The parts of `section.key=value`, in a copy of it.
struct assignment {
    char *section;
    char *key;
    char *text;
};

// The name of a section may have dots and equal signs: the key is the first text between a dot and
// an equal sign that can be a key.
static bool assignment_split(struct assignment *parts, char *copy)
{
    for (char *sign = strchr(copy, '='); sign; sign = strchr(sign + 1, '=')) {
        char *dot;

        *sign = '\0';
        dot = strrchr(copy, '.');
        if (dot && dot > copy && dot[1] != '\0' && dot[1 + strspn(dot + 1, KEY_BYTES)] == '\0') {
            *dot = '\0';
            *parts = (struct assignment){.section = copy, .key = dot + 1, .text = sign + 1};
            return true;
        }
        *sign = '=';
    }
    return false;
}

static bool assignment_apply(const struct config *config, const struct assignment *parts,
                             struct error_text *why)
{
    const char *name;
    struct config_sections *kind = config_kind_of(config, parts->section, &name);
    struct config_section *section;

    if (!kind) {
        return config_set(config, parts->section, parts->key, parts->text, why);
    }
    section = sections_find(kind, name);
    if (!section) {
        section = sections_add(kind, name, "--set", why);
    }
    return section && section_set(kind->kind, section, parts->key, parts->text, why);
}

// Whether the value of the key may be a secret, which must not be printed.
static bool assignment_is_secret(const struct config *config, const struct assignment *parts)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct option *option = config->tables[i].options;

        if (strcmp(config->tables[i].section, parts->section) != 0) {
            continue;
        }
        for (; option->name; option++) {
            if (strcmp(option->name, parts->key) == 0 && (option->secret || option->show)) {
                return true;
            }
        }
    }
    return false;
}

bool config_assign(const struct config *config, const char *assignment, struct error_text *why)
{
    char *copy = strdup(assignment);
    struct assignment parts;
    bool good = false;

    if (!copy) {
        error_set(why, "out of memory");
    } else if (!assignment_split(&parts, copy)) {
        error_set(why, "--set %s: not of the form section.key=value", assignment);
    } else {
        good = assignment_apply(config, &parts, why);
        if (!good && assignment_is_secret(config, &parts)) {
            error_prefix(why, "--set %s.%s: ", parts.section, parts.key);
        } else if (!good) {
            error_prefix(why, "--set %s: ", assignment);
        }
    }
    free(copy);
    return good;
}

//
// The file
//

// The longest line that is not a comment.
#define LINE_MOST 16384

// A key that the file has set: `section.key`, and its line.
struct config_key_seen {
    char name[128];
    int line;
};

struct config_reader {
    const struct config *config;
    const char *path;
    FILE *file;
    int line;
    // The section of the line: one of a table, with a copy of its name, or one with a name.
    char table[64];
    const struct config_sections *kind; // NULL: a section of a table
    // The keys of tables, followed by those of the present section with a name. Their number is
    // bounded by the number of options, because no key is there twice.
    struct config_key_seen *given; // owned
    size_t given_room, given_count, given_of_tables;
    char text[LINE_MOST + 1];
};

// Whether the end of the value may be meant as a comment.
static bool value_has_hash(const char *value)
{
    for (const char *hash = strchr(value, '#'); hash; hash = strchr(hash + 1, '#')) {
        if (hash == value || hash[-1] == ' ' || hash[-1] == '\t') {
            return true;
        }
    }
    return false;
}

// Refuses a key that is set twice: which of its values is meant is unknown. A section of a table
// may be split.
static bool config_reader_note_key(struct config_reader *reader, const char *key,
                                   struct error_text *why)
{
    size_t first = reader->kind ? reader->given_of_tables : 0;
    size_t last = reader->kind ? reader->given_count : reader->given_of_tables;
    struct config_key_seen noted = {.line = reader->line};

    (void)snprintf(noted.name, sizeof noted.name, "%s.%s", reader->kind ? "" : reader->table, key);
    for (size_t i = first; i < last; i++) {
        if (strcmp(reader->given[i].name, noted.name) == 0) {
            return error_set(why, "%s: line %d has this key already", key, reader->given[i].line);
        }
    }
    if (reader->given_count == reader->given_room) {
        size_t room = reader->given_room ? 2 * reader->given_room : 64;
        struct config_key_seen *given = realloc(reader->given, room * sizeof *given);

        if (!given) {
            return error_set(why, "out of memory");
        }
        reader->given = given;
        reader->given_room = room;
    }
    reader->given[reader->given_count++] = noted;
    reader->given_of_tables += reader->kind ? 0 : 1;
    return true;
}

static bool config_reader_set(struct config_reader *reader, const char *key, const char *value,
                              struct error_text *why)
{
    const struct config_sections *kind = reader->kind;

    if (value_has_hash(value)) {
        return error_set(why,
                         "%s: a comment after a value begins with ` ;`, or is on a line of "
                         "its own",
                         key);
    }
    if (kind) {
        return section_set(kind->kind, &kind->all[kind->count - 1], key, value, why) &&
               config_reader_note_key(reader, key, why);
    }
    if (reader->table[0] == '\0') {
        return error_set(why, "the key `%s` is before any section", key);
    }
    return config_set(reader->config, reader->table, key, value, why) &&
           config_reader_note_key(reader, key, why);
}

static bool config_reader_begin_section(struct config_reader *reader, const char *text,
                                        struct error_text *why)
{
    char origin[PATH_MAX + 16];
    const char *name;
    struct config_sections *kind = config_kind_of(reader->config, text, &name);

    reader->kind = kind;
    reader->given_count = reader->given_of_tables;
    if (kind) {
        (void)snprintf(origin, sizeof origin, "%s:%d", reader->path, reader->line);
        return sections_add(kind, name, origin, why) != NULL;
    }
    if (!config_has(reader->config, text)) {
        return error_set(why, "there is no section [%s]", text);
    }
    (void)snprintf(reader->table, sizeof reader->table, "%s", text);
    return true;
}

static bool config_reader_parse_line(struct config_reader *reader, struct error_text *why)
{
    char *name;
    char *value;

    switch (ini_line_cut(reader->text, &name, &value)) {
    case INI_NOTHING:
        return true;
    case INI_SECTION:
        return config_reader_begin_section(reader, name, why);
    case INI_KEY:
        return config_reader_set(reader, name, value, why);
    case INI_BAD:
        return error_set(why, "neither a [section] nor `key = value`");
    }
    UNREACHABLE();
}

// Reads the next line; false after the last one. Comments may have any length, and are read as
// empty lines. `*good` is false if another line is too long or has a NUL.
static bool config_reader_next_line(struct config_reader *reader, bool *good)
{
    size_t len = 0;
    bool comment = false;
    int c = getc(reader->file);

    *good = true;
    if (c == EOF) {
        return false;
    }
    reader->line++;
    for (; c != EOF && c != '\n'; c = getc(reader->file)) {
        if (len == 0 && (c == ' ' || c == '\t')) {
            continue;
        }
        comment = comment || (len == 0 && (c == '#' || c == ';'));
        *good = *good && c != '\0' && len < LINE_MOST;
        if (*good) {
            reader->text[len++] = (char)c;
        }
    }
    *good = *good || comment;
    reader->text[comment ? 0 : len] = '\0';
    return true;
}

static bool config_reader_run(struct config_reader *reader, struct error_text *why)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'}; // UTF-8 byte order mark
    bool good;

    while (config_reader_next_line(reader, &good)) {
        if (reader->line == 1 && memcmp(reader->text, mark, sizeof mark) == 0) {
            memset(reader->text, ' ', sizeof mark);
        }
        if (!good) {
            error_set(why, "the line has more than %d bytes, or a NUL", LINE_MOST);
        }
        if (!good || !config_reader_parse_line(reader, why)) {
            return false;
        }
    }
    reader->line++;
    if (ferror(reader->file)) {
        return error_set(why, "cannot be read");
    }
    return true;
}

// Whether the open file is one that no reader has to wait for. /dev/null is an empty file: a broker
// that has all its settings from elsewhere is started with it, and reads its other files again.
static bool config_is_file(const char *path, int fd)
{
    struct stat st;

    return strcmp(path, "/dev/null") == 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode));
}

static FILE *config_open(const char *path, bool waits, struct error_text *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK));
    FILE *file = NULL;

    if (fd >= 0 && !waits && !config_is_file(path, fd)) {
        error_set(why, "%s: not a file", path);
    } else if (fd < 0 || !(file = fdopen(fd, "r"))) {
        error_set(why, "%s: %s", path, strerror(errno));
    }
    if (fd >= 0 && !file) {
        (void)close(fd);
    }
    return file;
}

bool config_load(const struct config *config, const char *path, bool waits, struct error_text *why)
{
    struct config_reader reader = {.config = config, .path = path};
    bool good;

    reader.file = config_open(path, waits, why);
    if (!reader.file) {
        return false;
    }
    good = config_reader_run(&reader, why);
    (void)fclose(reader.file);
    free(reader.given);
    if (!good) {
        error_prefix(why, "%s:%d: ", path, reader.line);
    }
    return good;
}
