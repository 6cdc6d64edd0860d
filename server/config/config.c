/* SPDX-License-Identifier: MIT */
#include "server/config/config.h"

#include "core/base/log.h"
#include "server/config/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// How much of a value a log line shows.
enum { VALUE_SHOWN = 256 };

// A file that is being read. The parser knows lines only when it is done, so they are counted as
// they are handed to it.
struct config_reader {
    const struct config *config;
    FILE *file;
    int line;
    int failed_line; // 0: none so far; the first failure is told
    struct reason *why;
};

bool config_preset(const struct config *config, struct reason *why)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            if (!setting_parse(option, table->values, option->preset, why)) {
                reason_wrap(why, "%s.%s: ", table->section, option->name);
                return false;
            }
        }
    }
    return true;
}

// Why there is no such key.
static void complain_unknown(const struct config *config, const char *section, const char *name,
                             struct reason *why)
{
    for (size_t i = 0; i < config->count; i++) {
        if (strcmp(config->tables[i].section, section) == 0) {
            reason_set(why, "there is no key `%s` in section [%s]", name, section);
            return;
        }
    }
    if (*section) {
        reason_set(why, "there is no section [%s]", section);
    } else {
        reason_set(why, "the key `%s` stands before any section", name);
    }
}

static bool is_called(const struct config_table *table, const struct option *option,
                      const char *section, const char *name)
{
    return strcmp(option->section ? option->section : table->section, section) == 0 &&
           strcmp(option->name, name) == 0;
}

static bool set_in_table(const struct config_table *table, const char *section, const char *name,
                         const char *text, bool *known, struct reason *why)
{
    for (const struct option *option = table->options; option->name; option++) {
        if (!is_called(table, option, section, name)) {
            continue;
        }
        *known = true;
        if ((table->check && !table->check(option, text, why)) ||
            !setting_parse(option, table->values, text, why)) {
            reason_wrap(why, "%s: ", name);
            return false;
        }
    }
    return true;
}

// Sets the key wherever it is had.
static bool config_set(const struct config *config, const char *section, const char *name,
                       const char *text, struct reason *why)
{
    bool known = false;

    for (size_t i = 0; i < config->count; i++) {
        if (!set_in_table(&config->tables[i], section, name, text, &known, why)) {
            return false;
        }
    }
    if (!known) {
        complain_unknown(config, section, name, why);
    }
    return known;
}

static void reader_fail(struct config_reader *reader, int line, const struct reason *why)
{
    if (!reader->failed_line || line < reader->failed_line) {
        reader->failed_line = line;
        *reader->why = *why;
    }
}

// Whether somebody may have meant the end of the value for a comment.
static bool has_hash(const char *value)
{
    for (const char *hash = strchr(value, '#'); hash; hash = strchr(hash + 1, '#')) {
        if (hash == value || hash[-1] == ' ' || hash[-1] == '\t') {
            return true;
        }
    }
    return false;
}

static int reader_value(void *context, const char *section, const char *name, const char *value)
{
    struct config_reader *reader = context;
    struct reason why;

    if (has_hash(value)) {
        reason_set(&why,
                   "%s: a comment behind a value begins with ` ;`, or stands on a line of "
                   "its own",
                   name);
        reader_fail(reader, reader->line, &why);
        return 0;
    }
    if (!config_set(reader->config, section, name, value, &why)) {
        reader_fail(reader, reader->line, &why);
        return 0;
    }
    return 1;
}

// Hands the parser its next line. White space in front is taken off, since the parser would make
// the line a continuation of the one before; comments of any length are taken out; and a line that
// does not fit is an error here, where the parser would go on with its second half.
static char *reader_line(char *line, int room, void *context)
{
    struct config_reader *reader = context;
    size_t most = (size_t)room - 2;
    size_t len = 0;
    bool comment = false;
    bool good = true;
    int c = getc(reader->file);

    if (c == EOF) {
        return NULL;
    }
    reader->line++;
    for (; c != EOF && c != '\n'; c = getc(reader->file)) {
        if (len == 0 && (c == ' ' || c == '\t')) {
            continue;
        }
        comment = comment || (len == 0 && (c == '#' || c == ';'));
        good = good && c != '\0' && len < most;
        if (good) {
            line[len++] = (char)c;
        }
    }
    if (!good && !comment) {
        struct reason why;

        reason_set(&why, "a line has at most %zu bytes, and no NUL", most);
        reader_fail(reader, reader->line, &why);
    }
    if (!good || comment) {
        len = 0;
    }
    line[len++] = '\n';
    line[len] = '\0';
    return line;
}

// NULL with the reason in `why`.
static FILE *open_config(const char *path, bool waits, struct reason *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK));
    struct stat st;
    FILE *file = NULL;

    if (fd >= 0 && !waits && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        reason_set(why, "%s: not a file", path);
    } else if (fd < 0 || !(file = fdopen(fd, "r"))) {
        reason_set(why, "%s: %s", path, strerror(errno));
    }
    if (fd >= 0 && !file) {
        (void)close(fd);
    }
    return file;
}

bool config_load(const struct config *config, const char *path, bool waits, struct reason *why)
{
    struct config_reader reader = {.config = config, .why = why};
    int line;

    reader.file = open_config(path, waits, why);
    if (!reader.file) {
        return false;
    }
    line = ini_parse_stream(reader_line, &reader, reader_value, &reader);
    if (line != 0) {
        struct reason syntax;

        reason_set(&syntax, "neither a [section] nor `key = value`");
        reader_fail(&reader, line > 0 ? line : reader.line, &syntax);
    }
    if (ferror(reader.file)) {
        struct reason broken;

        reason_set(&broken, "cannot be read");
        reader_fail(&reader, reader.line + 1, &broken);
    }
    (void)fclose(reader.file);
    if (reader.failed_line) {
        reason_wrap(why, "%s:%d: ", path, reader.failed_line);
        return false;
    }
    return true;
}

bool config_assign(const struct config *config, const char *assignment, struct reason *why)
{
    size_t section_len = strcspn(assignment, ".=");
    const char *name = assignment + section_len + 1;
    char section[64];
    char key[64];
    size_t key_len;

    if (assignment[section_len] != '.' || section_len >= sizeof section || !strchr(name, '=') ||
        strcspn(name, "=") >= sizeof key) {
        reason_set(why, "--set %s: not of the form section.key=value", assignment);
        return false;
    }
    key_len = strcspn(name, "=");
    memcpy(section, assignment, section_len);
    section[section_len] = '\0';
    memcpy(key, name, key_len);
    key[key_len] = '\0';
    if (!config_set(config, section, key, name + key_len + 1, why)) {
        reason_wrap(why, "--set %s: ", assignment);
        return false;
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
}

static void log_change(const struct config_table *table, const struct option *option,
                       const void *fresh)
{
    char before[VALUE_SHOWN];
    char after[VALUE_SHOWN];

    if (option->section) {
        return; // its owner says so
    }
    setting_text(option, table->values, before, sizeof before);
    setting_text(option, fresh, after, sizeof after);
    LOG_AT(option->live ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
           option->live ? "setting_changed" : "setting_needs_restart",
           log_string("section", table->section), log_string("key", option->name),
           log_string("old", before), log_string("new", after));
}

static void table_adopt(const struct config_table *table, const struct config_table *fresh)
{
    for (const struct option *option = table->options; option->name; option++) {
        if (setting_equal(option, table->values, fresh->values)) {
            continue;
        }
        log_change(table, option, fresh->values);
        if (option->live) {
            setting_swap(option, table->values, fresh->values);
        }
    }
}

void config_adopt(const struct config *config, const struct config *fresh)
{
    ENSURE(config->count == fresh->count);
    for (size_t i = 0; i < config->count; i++) {
        table_adopt(&config->tables[i], &fresh->tables[i]);
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
}
