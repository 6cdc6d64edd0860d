/* SPDX-License-Identifier: MIT */
#include "server/config/config.h"

#include <stdlib.h>
#include <string.h>

// Where a section that --set has made is from.
#define FROM_SET "--set"
#define KEY_BYTES "abcdefghijklmnopqrstuvwxyz_"

// What an assignment says, cut up in a copy of it.
struct assignment {
    char *section;
    char *key;
    char *text;
};

// The name of a section may have dots and signs of equality: what stands between a dot and such a
// sign is the key where it may be one.
static bool cut(struct assignment *parts, char *copy)
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

static bool assign(const struct config *config, const struct assignment *parts,
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
        section = sections_add(kind, name, FROM_SET, why);
    }
    return section && section_set(kind->kind, section, parts->key, parts->text, why);
}

// Whether the value of that key may be one that nobody is to see.
static bool is_secret(const struct config *config, const struct assignment *parts)
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

static void wrap(const struct config *config, const struct assignment *parts,
                 const char *assignment, struct error_text *why)
{
    if (is_secret(config, parts)) {
        error_prefix(why, "--set %s.%s: ", parts->section, parts->key);
    } else {
        error_prefix(why, "--set %s: ", assignment);
    }
}

bool config_assign(const struct config *config, const char *assignment, struct error_text *why)
{
    char *copy = strdup(assignment);
    struct assignment parts;
    bool good = false;

    if (!copy) {
        error_set(why, "out of memory");
    } else if (!cut(&parts, copy)) {
        error_set(why, "--set %s: not of the form section.key=value", assignment);
    } else {
        good = assign(config, &parts, why);
        if (!good) {
            wrap(config, &parts, assignment, why);
        }
    }
    free(copy);
    return good;
}
