/* SPDX-License-Identifier: MIT */
#include "server/config/config.h"

#include "server/config/ini_line.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The longest line that is not a comment.
#define LINE_MOST 16384

// A key that the file has set: `section.key`, and the line.
struct given_key {
    char name[128];
    int line;
};

// A file that is being read.
struct config_reader {
    const struct config *config;
    const char *path;
    FILE *file;
    int line;
    // The section that the line is in: a table's, whose name is copied, or one with a name.
    char table[64];
    const struct config_sections *kind; // NULL: a table's
    // Keys of tables, and behind them those of the section with a name. There are no more than
    // options, as none is there twice.
    struct given_key *given; // owned
    size_t given_room, given_count, given_of_tables;
    char text[LINE_MOST + 1];
};

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

// A key that is there twice was meant once: which of the values, only its author knows. A table's
// section may be there in parts.
static bool note_key(struct config_reader *reader, const char *key, struct error_text *why)
{
    size_t first = reader->kind ? reader->given_of_tables : 0;
    size_t last = reader->kind ? reader->given_count : reader->given_of_tables;
    struct given_key noted = {.line = reader->line};

    (void)snprintf(noted.name, sizeof noted.name, "%s.%s", reader->kind ? "" : reader->table, key);
    for (size_t i = first; i < last; i++) {
        if (strcmp(reader->given[i].name, noted.name) == 0) {
            return error_set(why, "%s: line %d has this key already", key, reader->given[i].line);
        }
    }
    if (reader->given_count == reader->given_room) {
        size_t room = reader->given_room ? 2 * reader->given_room : 64;
        struct given_key *given = realloc(reader->given, room * sizeof *given);

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

static bool take_value(struct config_reader *reader, const char *key, const char *value,
                       struct error_text *why)
{
    const struct config_sections *kind = reader->kind;

    if (has_hash(value)) {
        return error_set(why,
                         "%s: a comment behind a value begins with ` ;`, or stands on a line of "
                         "its own",
                         key);
    }
    if (kind) {
        return section_set(kind->kind, &kind->all[kind->count - 1], key, value, why) &&
               note_key(reader, key, why);
    }
    if (reader->table[0] == '\0') {
        return error_set(why, "the key `%s` stands before any section", key);
    }
    return config_set(reader->config, reader->table, key, value, why) && note_key(reader, key, why);
}

static bool take_section(struct config_reader *reader, const char *text, struct error_text *why)
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

static bool take_line(struct config_reader *reader, struct error_text *why)
{
    char *name;
    char *value;

    switch (ini_line_cut(reader->text, &name, &value)) {
    case INI_NOTHING:
        return true;
    case INI_SECTION:
        return take_section(reader, name, why);
    case INI_KEY:
        return take_value(reader, name, value, why);
    case INI_BAD:
        return error_set(why, "neither a [section] nor `key = value`");
    }
    UNREACHABLE();
}

// The next line; false behind the last one. Comments of any length are taken out; `*good` is false
// where another line does not fit.
static bool read_line(struct config_reader *reader, bool *good)
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

static bool read_all(struct config_reader *reader, struct error_text *why)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'}; // of UTF-8, at the beginning
    bool good;

    while (read_line(reader, &good)) {
        if (reader->line == 1 && memcmp(reader->text, mark, sizeof mark) == 0) {
            memset(reader->text, ' ', sizeof mark);
        }
        if (!good) {
            error_set(why, "a line has at most %d bytes, and no NUL", LINE_MOST);
        }
        if (!good || !take_line(reader, why)) {
            return false;
        }
    }
    reader->line++;
    if (ferror(reader->file)) {
        return error_set(why, "cannot be read");
    }
    return true;
}

// NULL with the reason in `why`.
static FILE *open_config(const char *path, bool waits, struct error_text *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK));
    struct stat st;
    FILE *file = NULL;

    if (fd >= 0 && !waits && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
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

    reader.file = open_config(path, waits, why);
    if (!reader.file) {
        return false;
    }
    good = read_all(&reader, why);
    (void)fclose(reader.file);
    free(reader.given);
    if (!good) {
        error_prefix(why, "%s:%d: ", path, reader.line);
    }
    return good;
}
