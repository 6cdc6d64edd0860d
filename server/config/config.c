/* SPDX-License-Identifier: MIT */
#include "server/config/config.h"

#include "core/base/log.h"
#include "server/config/setting.h"

#include <string.h>

// How much of a value a log line shows.
enum { VALUE_SHOWN = 256 };

bool config_preset(const struct config *config, struct error_text *why)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct config_table *table = &config->tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            if (!setting_parse(option, table->values, option->preset, why)) {
                return error_prefix(why, "%s.%s: ", table->section, option->name);
            }
        }
    }
    return true;
}

bool config_has(const struct config *config, const char *section)
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

static bool is_called(const struct config_table *table, const struct option *option,
                      const char *section, const char *name)
{
    return strcmp(option->section ? option->section : table->section, section) == 0 &&
           strcmp(option->name, name) == 0;
}

static bool set_in_table(const struct config_table *table, const char *section, const char *name,
                         const char *text, bool *known, struct error_text *why)
{
    for (const struct option *option = table->options; option->name; option++) {
        if (!is_called(table, option, section, name)) {
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
        if (!set_in_table(&config->tables[i], section, name, text, &known, why)) {
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
