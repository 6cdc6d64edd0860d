/* SPDX-License-Identifier: MIT */
#include "server/config/config_introspect.h"

#include "server/config/setting.h"

#include <stdlib.h>
#include <string.h>

// The setting of that index and its table; NULL after the last one.
static const struct option *config_option_at(const struct config *config, size_t index,
                                             const struct config_table **table)
{
    for (size_t i = 0; i < config->count; i++) {
        *table = &config->tables[i];
        for (const struct option *option = (*table)->options; option->name; option++) {
            // A key of another section is listed there.
            if (!option->section && index-- == 0) {
                return option;
            }
        }
    }
    return NULL;
}

// Replaces `*text` by the text of the value.
static const char *config_value_text(char **text, const struct option *option, const void *values)
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

bool config_introspect_setting(struct config_introspection *introspection,
                               const struct config *config, size_t index,
                               struct introspect_setting *setting)
{
    const struct config_table *table;
    const struct option *option = config_option_at(config, index, &table);

    if (!option) {
        return false;
    }
    ENSURE(index < CONFIG_INTROSPECT_MOST);
    *setting = (struct introspect_setting){
        .section = table->section,
        .key = option->name,
        .value = config_value_text(&introspection->values[index], option, table->values),
        .default_value = option->default_value,
        .effect = option->effect,
        .live = option->live,
    };
    return true;
}

// NULL after the last one.
static const struct config_section *config_section_at(const struct config *config, size_t index,
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

bool config_introspect_section(const struct config *config, size_t index,
                               struct introspect_section *section)
{
    const struct config_kind *kind;
    const struct config_section *found = config_section_at(config, index, &kind);

    if (found) {
        *section = (struct introspect_section){
            .kind = kind->word, .name = found->name, .origin = found->origin};
    }
    return found;
}

bool config_introspect_key(struct config_introspection *introspection,
                           const struct config_kind *kind, const struct config_section *section,
                           size_t key, struct introspect_key *out)
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
    out->value = config_value_text(&introspection->key, option, section->values);
    out->is_default = strcmp(out->value, option->default_value) == 0;
    return true;
}

bool config_introspect_section_key(struct config_introspection *introspection,
                                   const struct config *config, size_t index, size_t key,
                                   struct introspect_key *out)
{
    const struct config_kind *kind;
    const struct config_section *section = config_section_at(config, index, &kind);

    return section && config_introspect_key(introspection, kind, section, key, out);
}

void config_introspect_clear(struct config_introspection *introspection)
{
    free(introspection->key);
    introspection->key = NULL;
    for (size_t i = 0; i < CONFIG_INTROSPECT_MOST; i++) {
        free(introspection->values[i]);
        introspection->values[i] = NULL;
    }
}
