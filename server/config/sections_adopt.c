/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"
#include "server/config/sections.h"
#include "server/config/setting.h"

// How much of a value a log line shows.
enum { VALUE_SHOWN = 256 };

static void log_section(const char *event, const struct config_kind *kind,
                        const struct config_section *section)
{
    log_info(event, log_string("kind", kind->word), log_string("name", section->name),
             log_string("origin", section->origin));
}

static void log_changes(const struct config_kind *kind, const struct config_section *before,
                        const struct config_section *after)
{
    for (const struct option *option = kind->options; option->name; option++) {
        char old[VALUE_SHOWN];
        char new[VALUE_SHOWN];

        if (setting_equal(option, before->values, after->values)) {
            continue;
        }
        setting_text(option, before->values, old, sizeof old);
        setting_text(option, after->values, new, sizeof new);
        log_info("section_changed", log_string("kind", kind->word), log_string("name", after->name),
                 log_string("key", option->name), log_string("old", old), log_string("new", new));
    }
}

// Whether those that are in both lists stand in the same order.
static bool in_order(const struct config_sections *before, const struct config_sections *after)
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
            log_section("section_removed", kind, &before.all[i]);
        }
    }
    for (size_t i = 0; i < fresh->count; i++) {
        const struct config_section *twin = sections_find(&before, fresh->all[i].name);

        if (twin) {
            log_changes(kind, twin, &fresh->all[i]);
        } else {
            log_section("section_added", kind, &fresh->all[i]);
        }
    }
    if (!in_order(&before, fresh)) {
        log_info("sections_reordered", log_string("kind", kind->word));
    }
    *sections = *fresh;
    *fresh = before;
}
