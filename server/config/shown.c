/* SPDX-License-Identifier: MIT */
#include "server/config/shown.h"

#include "server/config/setting.h"

#include <stdlib.h>
#include <string.h>

// The setting of that index and its table; NULL behind the last one.
static const struct option *find(const struct config *config, size_t index,
                                 const struct config_table **table)
{
    for (size_t i = 0; i < config->count; i++) {
        *table = &config->tables[i];
        for (const struct option *option = (*table)->options; option->name; option++) {
            // Of those that stand in several tables, their section's is meant.
            if (!option->section && index-- == 0) {
                return option;
            }
        }
    }
    return NULL;
}

// Writes the value in the place of what was there.
static const char *value_of(char **text, const struct option *option, const void *values)
{
    size_t size;
    FILE *file;

    free(*text);
    *text = NULL;
    file = open_memstream(text, &size);
    if (file) {
        setting_print(option, values, file);
        (void)fclose(file);
    }
    return *text ? *text : "";
}

bool shown_setting(struct shown *shown, const struct config *config, size_t index,
                   struct sight_setting *setting)
{
    const struct config_table *table;
    const struct option *option = find(config, index, &table);

    if (!option) {
        return false;
    }
    ENSURE(index < SHOWN_MOST);
    *setting = (struct sight_setting){
        .section = table->section,
        .key = option->name,
        .value = value_of(&shown->values[index], option, table->values),
        .preset = option->preset,
        .effect = option->effect,
        .live = option->live,
    };
    return true;
}

// NULL behind the last one.
static const struct config_section *find_section(const struct config *config, size_t index,
                                                 const struct config_kind **kind)
{
    for (size_t i = 0; i < config->kinds; i++) {
        const struct config_sections *sections = &config->named[i];

        if (index < sections->count) {
            *kind = sections->kind;
            return &sections->all[index];
        }
        index -= sections->count;
    }
    return NULL;
}

bool shown_named(const struct config *config, size_t index, struct sight_section *section)
{
    const struct config_kind *kind;
    const struct config_section *found = find_section(config, index, &kind);

    if (found) {
        *section = (struct sight_section){
            .kind = kind->word, .name = found->name, .origin = found->origin};
    }
    return found;
}

bool shown_key(struct shown *shown, const struct config_kind *kind,
               const struct config_section *section, size_t key, struct sight_key *out)
{
    const struct option *option = kind->options;

    while (option->name && key > 0) {
        option++;
        key--;
    }
    if (!option->name) {
        return false;
    }
    out->option = option;
    out->value = value_of(&shown->key, option, section->values);
    out->preset = strcmp(out->value, option->preset) == 0;
    return true;
}

bool shown_named_key(struct shown *shown, const struct config *config, size_t index, size_t key,
                     struct sight_key *out)
{
    const struct config_kind *kind;
    const struct config_section *section = find_section(config, index, &kind);

    return section && shown_key(shown, kind, section, key, out);
}

void shown_clear(struct shown *shown)
{
    free(shown->key);
    shown->key = NULL;
    for (size_t i = 0; i < SHOWN_MOST; i++) {
        free(shown->values[i]);
        shown->values[i] = NULL;
    }
}
