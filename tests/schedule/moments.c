/* SPDX-License-Identifier: MIT */
#include "tests/schedule/moments.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int number_at(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

nsec_t moment(const char *text)
{
    struct tm tm = {
        .tm_year = number_at(text) - 1900,
        .tm_mon = number_at(text + 5) - 1,
        .tm_mday = number_at(text + 8),
        .tm_hour = number_at(text + 11),
        .tm_min = number_at(text + 14),
        .tm_sec = text[16] == ':' ? number_at(text + 17) : 0,
    };

    return timegm(&tm) * NSEC_PER_SEC;
}

static int32_t no_offset(const struct zone *zone, int64_t at)
{
    (void)zone;
    (void)at;
    return 0;
}

const struct zone zone_utc = {.offset_at = no_offset};

static int32_t made_offset_at(const struct zone *zone, int64_t at)
{
    const struct made_zone *made = (const void *)zone;
    int32_t offset = made->first_offset;

    for (size_t i = 0; i < made->count && made->changes[i].at <= at; i++) {
        offset = made->changes[i].offset;
    }
    return offset;
}

void made_zone(struct made_zone *made, int minutes)
{
    *made = (struct made_zone){.zone.offset_at = made_offset_at, .first_offset = minutes * 60};
}

void made_zone_changes(struct made_zone *made, const char *at, int minutes)
{
    made->changes[made->count].at = moment(at) / NSEC_PER_SEC;
    made->changes[made->count++].offset = minutes * 60;
}

struct cron cron_of(const char *text)
{
    struct error_text why = {""};
    struct cron cron;

    if (!cron_parse(slice_str(text), &cron, &why)) {
        print_error("%s\n", why.text);
        fail();
    }
    return cron;
}

static void write_moment(nsec_t at, char *text, size_t size)
{
    time_t seconds = (time_t)(at / NSEC_PER_SEC);
    struct tm tm;

    (void)strftime(text, size, "%Y-%m-%d %H:%M", gmtime_r(&seconds, &tm));
}

static size_t commas(const char *text)
{
    size_t count = 0;

    for (; *text; text++) {
        count += *text == ',';
    }
    return count;
}

void comes_at_line(const char *text, const struct zone *zone, const char *after,
                   const char *expected, const char *file, int line)
{
    struct cron cron = cron_of(text);
    char found[512] = "", one[32];
    nsec_t at = moment(after);

    for (size_t left = commas(expected) + 1; left > 0; left--) {
        if (cron_next(&cron, zone, at, &at)) {
            write_moment(at, one, sizeof one);
        } else {
            (void)strcpy(one, "never");
        }
        (void)snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s",
                       *found ? "," : "", one);
    }
    if (strcmp(found, expected) != 0) {
        print_error("comes at %s, expected %s\n", found, expected);
        _fail(file, line);
    }
}
