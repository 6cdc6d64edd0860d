/* SPDX-License-Identifier: MIT */
#include "server/config/section_text.h"

#include "server/config/ini_line.h"
#include "server/config/setting.h"

#include <stdlib.h>
#include <string.h>

static bool read_line(const struct config_kind *kind, struct config_section *section, char *line,
                      struct error_text *why)
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

        good = read_line(kind, section, line, why);
    }
    free(copy);
    return good && (!kind->finish || kind->finish(section->values, why));
}

// Whether both sections say the same.
static bool is_same(const struct config_kind *kind, const struct config_section *a,
                    const struct config_section *b, struct error_text *why)
{
    for (const struct option *option = kind->options; option->name; option++) {
        if (!setting_equal(option, a->values, b->values)) {
            return error_set(
                why, "%s: a value has no line break, no blank at an end, and no ; behind a blank",
                option->name);
        }
    }
    return true;
}

static bool is_read_back(const struct config_kind *kind, const struct config_section *section,
                         const char *text, struct error_text *why)
{
    struct config_section again;
    bool good = section_init(kind, &again, section->name, section->origin, why) &&
                section_read(kind, &again, slice_str(text), why) &&
                is_same(kind, section, &again, why);

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
    if (!is_read_back(kind, section, text, why)) {
        free(text);
        return NULL;
    }
    return text;
}
