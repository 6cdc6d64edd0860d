/* SPDX-License-Identifier: MIT */
#include "server/config/sections.h"
#include "server/config/setting.h"

#include <stdlib.h>
#include <string.h>

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
    same = fclose(file) == 0 && strcmp(text, option->preset) == 0;
    free(text);
    return same;
}

void section_print_keys(const struct config_kind *kind, const struct config_section *section,
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
