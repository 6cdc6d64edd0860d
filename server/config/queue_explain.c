/* SPDX-License-Identifier: MIT */
#include "core/base/glob.h"
#include "server/config/queue_section.h"

#include <string.h>

static bool fits(const struct config_section *section, struct slice name)
{
    return glob_matches(slice_str(section->name), name);
}

const struct config_section *queue_section_for(const struct config_sections *sections,
                                               struct slice name)
{
    for (size_t i = 0; i < sections->count; i++) {
        if (fits(&sections->all[i], name)) {
            return &sections->all[i];
        }
    }
    return NULL;
}

void queue_section_explain(const struct config_sections *sections, const char *name, FILE *file)
{
    const struct slice queue = slice_str(name);
    const struct config_section *section = queue_section_for(sections, queue);

    if (!section) {
        (void)fprintf(file, "# No section [queue GLOB] fits %s.\n", name);
        return;
    }
    (void)fprintf(file, "# Of the sections whose globs fit %s, this is the first.\n", name);
    section_print(sections->kind, section, file);
    for (section++; section < sections->all + sections->count; section++) {
        if (fits(section, queue)) {
            (void)fprintf(file, "# Not [queue %s], at %s: it fits, too, but comes later.\n",
                          section->name, section->origin);
        }
    }
}
