/* SPDX-License-Identifier: MIT */
#include "server/config/sections.h"

#include "server/config/setting.h"

#include <stdlib.h>
#include <string.h>

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

// Blanks that nobody sees would be a part of the name.
static bool has_outer_blank(const char *name)
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
        if (!setting_parse(option, section->values, option->preset, why)) {
            return false;
        }
    }
    return true;
}

static bool make_room(struct config_sections *sections, struct error_text *why)
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
        error_set(why, "there are %zu sections [%s ...] already, and no more can be", kind->most,
                  kind->word);
        return NULL;
    }
    if (has_outer_blank(name)) {
        error_set(why, "[%s %s]: a name has no blank at either end; ? stands for one", kind->word,
                  name);
        return NULL;
    }
    if (!kind->check_name(name, why) || !make_room(sections, why)) {
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
