/* SPDX-License-Identifier: MIT */
#include "server/config/sections.h"

#include "core/base/log.h"
#include "server/config/setting.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool ini_is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' || byte == '\v' ||
           byte == '\f';
}

// Removes blanks at both ends.
static char *ini_trim(char *text)
{
    size_t len;

    while (ini_is_blank(*text)) {
        text++;
    }
    for (len = strlen(text); len > 0 && ini_is_blank(text[len - 1]); len--) {
    }
    text[len] = '\0';
    return text;
}

static void ini_cut_comment(char *line)
{
    for (char *at = strchr(line, ';'); at; at = strchr(at + 1, ';')) {
        if (at > line && ini_is_blank(at[-1])) {
            *at = '\0';
            return;
        }
    }
}

enum ini_line ini_line_cut(char *line, char **name, char **value)
{
    char *end;

    line = ini_trim(line);
    if (*line == '\0' || *line == '#' || *line == ';') {
        return INI_NOTHING;
    }
    ini_cut_comment(line);
    line = ini_trim(line);
    end = line + strlen(line) - 1;
    if (*line == '[') {
        *name = line + 1;
        if (*end != ']') {
            return INI_BAD;
        }
        *end = '\0';
        return INI_SECTION;
    }
    end = line + strcspn(line, "=:");
    if (*end == '\0') {
        return INI_BAD;
    }
    *end = '\0';
    *name = ini_trim(line);
    *value = ini_trim(end + 1);
    return INI_KEY;
}

const char *section_name(const struct config_kind *kind, const char *text)
{
    size_t len = strlen(kind->word);

    if (strncmp(text, kind->word, len) != 0) {
        return NULL;
    }
    text += len;
    len = strspn(text, " \t");
    return len > 0 || *text == '\0' ? text + len : NULL;
}

// Such blanks are invisible in the file, but would be a part of the name.
static bool section_name_has_outer_blank(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && (strchr(" \t", name[0]) || strchr(" \t", name[len - 1]));
}

struct config_section *sections_find(const struct config_sections *sections, const char *name)
{
    for (size_t i = 0; i < sections->count; i++) {
        if (strcmp(sections->all[i].name, name) == 0) {
            return &sections->all[i];
        }
    }
    return NULL;
}

void section_clear(const struct config_kind *kind, struct config_section *section)
{
    for (const struct option *option = kind->options; section->values && option->name; option++) {
        setting_clear(option, section->values);
    }
    free(section->name);
    free(section->origin);
    free(section->values);
    *section = (struct config_section){0};
}

bool section_init(const struct config_kind *kind, struct config_section *section, const char *name,
                  const char *origin, struct error_text *why)
{
    *section = (struct config_section){
        .name = strdup(name), .origin = strdup(origin), .values = calloc(1, kind->size)};
    if (!section->name || !section->origin || !section->values) {
        return error_set(why, "out of memory");
    }
    for (const struct option *option = kind->options; option->name; option++) {
        if (!setting_parse(option, section->values, option->default_value, why)) {
            return false;
        }
    }
    return true;
}

static bool sections_make_room(struct config_sections *sections, struct error_text *why)
{
    size_t room = sections->room ? 2 * sections->room : 8;
    struct config_section *all;

    if (sections->count < sections->room) {
        return true;
    }
    all = realloc(sections->all, room * sizeof *all);
    if (!all) {
        return error_set(why, "out of memory");
    }
    sections->all = all;
    sections->room = room;
    return true;
}

struct config_section *sections_add(struct config_sections *sections, const char *name,
                                    const char *origin, struct error_text *why)
{
    const struct config_kind *kind = sections->kind;
    const struct config_section *twin = sections_find(sections, name);
    struct config_section section;

    if (twin) {
        error_set(why, "there is a section [%s %s] already, at %s", kind->word, name, twin->origin);
        return NULL;
    }
    if (sections->count == kind->most) {
        error_set(why, "there can be no more than %zu sections [%s ...]", kind->most, kind->word);
        return NULL;
    }
    if (section_name_has_outer_blank(name)) {
        error_set(why, "[%s %s]: a name must not begin or end with a blank; ? stands for one",
                  kind->word, name);
        return NULL;
    }
    if (!kind->check_name(name, why) || !sections_make_room(sections, why)) {
        error_prefix(why, "[%s %s]: ", kind->word, name);
        return NULL;
    }
    if (!section_init(kind, &section, name, origin, why)) {
        section_clear(kind, &section);
        return NULL;
    }
    sections->all[sections->count] = section;
    return &sections->all[sections->count++];
}

bool section_set(const struct config_kind *kind, struct config_section *section, const char *key,
                 const char *text, struct error_text *why)
{
    for (const struct option *option = kind->options; option->name; option++) {
        if (strcmp(option->name, key) != 0) {
            continue;
        }
        if ((kind->check && !kind->check(option, text, why)) ||
            !setting_parse(option, section->values, text, why)) {
            return error_prefix(why, "%s: ", key);
        }
        return true;
    }
    return error_set(why, "there is no key `%s` in sections [%s ...]", key, kind->word);
}

bool sections_finish(const struct config_sections *sections, struct error_text *why)
{
    const struct config_kind *kind = sections->kind;

    for (size_t i = 0; kind->finish && i < sections->count; i++) {
        const struct config_section *section = &sections->all[i];

        if (!kind->finish(section->values, why)) {
            return error_prefix(why, "%s: [%s %s]: ", section->origin, kind->word, section->name);
        }
    }
    return true;
}

void sections_clear(struct config_sections *sections)
{
    for (size_t i = 0; i < sections->count; i++) {
        section_clear(sections->kind, &sections->all[i]);
    }
    free(sections->all);
    *sections = (struct config_sections){.kind = sections->kind};
}

// Longest value in a log line, with its NUL.
enum { LOGGED_VALUE_ROOM = 256 };

static void sections_log(const char *event, const struct config_kind *kind,
                         const struct config_section *section)
{
    log_info(event, log_string("kind", kind->word), log_string("name", section->name),
             log_string("origin", section->origin));
}

static void sections_log_changes(const struct config_kind *kind,
                                 const struct config_section *before,
                                 const struct config_section *after)
{
    for (const struct option *option = kind->options; option->name; option++) {
        char old[LOGGED_VALUE_ROOM];
        char new[LOGGED_VALUE_ROOM];

        if (setting_equal(option, before->values, after->values)) {
            continue;
        }
        setting_text(option, before->values, old, sizeof old);
        setting_text(option, after->values, new, sizeof new);
        log_info("section_changed", log_string("kind", kind->word), log_string("name", after->name),
                 log_string("key", option->name), log_string("old", old), log_string("new", new));
    }
}

// Whether the sections that are in both lists have the same order.
static bool sections_in_order(const struct config_sections *before,
                              const struct config_sections *after)
{
    const struct config_section *last = NULL;

    for (size_t i = 0; i < after->count; i++) {
        const struct config_section *twin = sections_find(before, after->all[i].name);

        if (twin && last && twin < last) {
            return false;
        }
        last = twin ? twin : last;
    }
    return true;
}

void sections_adopt(struct config_sections *sections, struct config_sections *fresh)
{
    const struct config_kind *kind = sections->kind;
    struct config_sections before = *sections;

    for (size_t i = 0; i < before.count; i++) {
        if (!sections_find(fresh, before.all[i].name)) {
            sections_log("section_removed", kind, &before.all[i]);
        }
    }
    for (size_t i = 0; i < fresh->count; i++) {
        const struct config_section *twin = sections_find(&before, fresh->all[i].name);

        if (twin) {
            sections_log_changes(kind, twin, &fresh->all[i]);
        } else {
            sections_log("section_added", kind, &fresh->all[i]);
        }
    }
    if (!sections_in_order(&before, fresh)) {
        log_info("sections_reordered", log_string("kind", kind->word));
    }
    *sections = *fresh;
    *fresh = before;
}

bool section_is_preset(const struct option *option, const struct config_section *section)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);
    bool same;

    if (!file) {
        return false;
    }
    setting_print(option, section->values, file);
    same = fclose(file) == 0 && strcmp(text, option->default_value) == 0;
    free(text);
    return same;
}

// Writes the keys that do not have their default, a line each.
static void section_print_keys(const struct config_kind *kind, const struct config_section *section,
                               FILE *file)
{
    for (const struct option *option = kind->options; option->name; option++) {
        if (!section_is_preset(option, section)) {
            (void)fprintf(file, "%s = ", option->name);
            setting_print(option, section->values, file);
            (void)fputc('\n', file);
        }
    }
}

void section_print(const struct config_kind *kind, const struct config_section *section, FILE *file)
{
    (void)fprintf(file, "# %s\n[%s %s]\n", section->origin, kind->word, section->name);
    section_print_keys(kind, section, file);
}

void sections_print(const struct config_sections *sections, FILE *file)
{
    for (size_t i = 0; i < sections->count; i++) {
        (void)fputc('\n', file);
        section_print(sections->kind, &sections->all[i], file);
    }
}

static bool section_read_line(const struct config_kind *kind, struct config_section *section,
                              char *line, struct error_text *why)
{
    char *key;
    char *value;

    switch (ini_line_cut(line, &key, &value)) {
    case INI_NOTHING:
        return true;
    case INI_KEY:
        return section_set(kind, section, key, value, why);
    case INI_SECTION:
    case INI_BAD:
        return error_set(why, "a line is not `key = value`");
    }
    UNREACHABLE();
}

bool section_read(const struct config_kind *kind, struct config_section *section, struct slice text,
                  struct error_text *why)
{
    char *copy = strndup(text.len > 0 ? text.ptr : "", text.len);
    char *next = copy;
    bool good = copy;

    if (!copy) {
        error_set(why, "out of memory");
    }
    while (good && next) {
        char *line = strsep(&next, "\n");

        good = section_read_line(kind, section, line, why);
    }
    free(copy);
    return good && (!kind->finish || kind->finish(section->values, why));
}

static bool section_is_same(const struct config_kind *kind, const struct config_section *a,
                            const struct config_section *b, struct error_text *why)
{
    for (const struct option *option = kind->options; option->name; option++) {
        if (!setting_equal(option, a->values, b->values)) {
            return error_set(
                why,
                "%s: a value must not have a line break, a blank at an end, or a ; after a blank",
                option->name);
        }
    }
    return true;
}

static bool section_is_read_back(const struct config_kind *kind,
                                 const struct config_section *section, const char *text,
                                 struct error_text *why)
{
    struct config_section again;
    bool good = section_init(kind, &again, section->name, section->origin, why) &&
                section_read(kind, &again, slice_str(text), why) &&
                section_is_same(kind, section, &again, why);

    section_clear(kind, &again);
    return good;
}

char *section_write(const struct config_kind *kind, const struct config_section *section,
                    struct error_text *why)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    if (!file) {
        error_set(why, "out of memory");
        return NULL;
    }
    section_print_keys(kind, section, file);
    if (fclose(file) != 0) {
        error_set(why, "out of memory");
        free(text);
        return NULL;
    }
    if (!section_is_read_back(kind, section, text, why)) {
        free(text);
        return NULL;
    }
    return text;
}
