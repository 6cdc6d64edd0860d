/* SPDX-License-Identifier: MIT */

// If there is no memory for a zone, GLib aborts the process. This is accepted: a zone has some
// hundred bytes, and is opened only when the configuration is read or an operator puts a schedule.

#include "schedule/system/system_zone.h"

#include "core/base/macros.h"
#include "core/base/memory.h"

#include <glib.h>
#include <stdio.h>

// The longest name in the database has 32 letters.
#define ZONE_NAME_MAX 64

struct system_zone {
    struct zone zone; // first, so that a cast finds the rest
    GTimeZone *glib;
};

static int32_t system_zone_offset_at(const struct zone *zone, int64_t at)
{
    const struct system_zone *system = (const void *)zone;
    gint interval = g_time_zone_find_interval(system->glib, G_TIME_TYPE_UNIVERSAL, at);

    return g_time_zone_get_offset(system->glib, interval);
}

// Whether the name has only characters that names of the database have. So it cannot be a path out
// of the database.
static bool system_zone_name_valid(struct slice name)
{
    if (name.len > ZONE_NAME_MAX || (name.len && !g_ascii_isalpha(name.ptr[0]))) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!g_ascii_isalnum(c) && c != '/' && c != '_' && c != '+' && c != '-') {
            return false;
        }
    }
    return true;
}

// Whether the database has the zone. GLib would read any other name as a POSIX rule, in which the
// sign of an offset is reversed ("UTC+1" is an hour west of UTC) and any three letters mean UTC.
// The zones below right/ are excluded, because they count leap seconds and moments do not.
static bool system_zone_in_database(const char *identifier)
{
    const char *folder = g_getenv("TZDIR") ? g_getenv("TZDIR") : "/usr/share/zoneinfo";
    char *path = g_build_filename(folder, identifier, NULL);
    FILE *file = fopen(path, "rbe");
    char magic[4] = "";
    bool is_zone = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                   memcmp(magic, "TZif", sizeof magic) == 0;

    if (file) {
        (void)fclose(file);
    }
    g_free(path);
    return is_zone && !g_str_has_prefix(identifier, "right/");
}

// UTC works without a database.
static GTimeZone *system_zone_open_glib(struct slice name)
{
    char identifier[ZONE_NAME_MAX + 1] = "";

    if (name.len == 0) {
        return g_time_zone_new_local();
    }
    memcpy(identifier, name.ptr, name.len);
    if (strcmp(identifier, "UTC") == 0) {
        return g_time_zone_new_utc();
    }
    return system_zone_in_database(identifier) ? g_time_zone_new_identifier(identifier) : NULL;
}

struct zone *system_zone_open(struct slice name)
{
    GTimeZone *glib = system_zone_name_valid(name) ? system_zone_open_glib(name) : NULL;
    struct system_zone *system = glib ? calloc(1, sizeof *system) : NULL;

    if (system) {
        system->zone.offset_at = system_zone_offset_at;
        system->glib = glib;
    } else if (glib) {
        g_time_zone_unref(glib);
    }
    return (struct zone *)system;
}

void system_zone_close(struct zone *zone)
{
    struct system_zone *system;

    if (zone) {
        system = container_of(zone, struct system_zone, zone);
        g_time_zone_unref(system->glib);
        free(system);
    }
}
