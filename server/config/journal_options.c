/* SPDX-License-Identifier: MIT */
#include "server/config/journal_options.h"

#include "server/config/fsync.h"
#include "server/config/import_kinds.h"
#include "server/config/settings.h"

#include <string.h>

#define FAIL_TIMEOUT_MAX 86400
#define PENDING_LEAST (INT64_C(1) << 20)
#define PENDING_MOST (INT64_C(64) << 30)

const struct option journal_options[] = {
    {.name = "dir",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, dir),
     .preset = "",
     .effect = "The directory of the journal; empty for none: jobs are in memory only."},
    {.name = "fsync",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, fsync),
     .preset = "always",
     .effect = "When what is written is synced: always, every so many milliseconds, or never."},
    {.name = "segment_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct store_settings, segment_size),
     .preset = "64M",
     .min = SETTINGS_SEGMENT_LEAST,
     .max = SETTINGS_SEGMENT_MOST,
     .effect = "The size of a file; a larger job has a file of its own."},
    {.name = "max_pending",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct store_settings, max_pending),
     .preset = "64M",
     .min = PENDING_LEAST,
     .max = PENDING_MOST,
     .effect = "How much may wait for the disk before clients that submit are not read."},
    {.name = "fail_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct store_settings, fail_timeout),
     .preset = "5",
     .min = 1,
     .max = FAIL_TIMEOUT_MAX,
     .effect = "Seconds without success on the disk after which those who wait are given up."},
    {.name = "import",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, import),
     .preset = "",
     .effect = "Whose jobs to bring in at the first start, KIND:PLACE; empty: nobody's."},
    {.name = NULL},
};

static bool check_import(const char *text, struct reason *why)
{
    struct source_news news;
    bool good = *text == '\0' || source_check(import_kinds, text, &news);

    if (!good) {
        reason_set(why, "%s", news.what);
    }
    return good;
}

bool journal_options_check(const struct option *option, const char *text, struct reason *why)
{
    nsec_t unused;

    if (strcmp(option->name, "import") == 0) {
        return check_import(text, why);
    }
    return strcmp(option->name, "fsync") != 0 || fsync_parse(text, &unused, why);
}

bool journal_settings_check(const struct store_settings *settings, struct reason *why)
{
    bool good = *settings->import == '\0' || *settings->dir != '\0';

    if (!good) {
        reason_set(why,
                   "[journal] import: needs `dir`, where the jobs are to be kept from then on");
    }
    return good;
}
