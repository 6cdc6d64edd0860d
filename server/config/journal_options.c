/* SPDX-License-Identifier: MIT */
#include "server/config/journal_options.h"

#include "server/config/conninfo.h"
#include "server/config/fsync.h"
#include "server/config/import_kinds.h"
#include "server/config/settings.h"

#include <string.h>

#define LEASE_TTL_MOST 60
#define SHARD_MOST 32
#define HOST_MOST 255
#define FAIL_TIMEOUT_MAX 86400
#define PENDING_LEAST (INT64_C(1) << 20)
#define PENDING_MOST (INT64_C(64) << 30)

const struct option journal_options[] = {
    {.name = "store",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct store_settings, store),
     .preset = "file",
     .choices = "file|postgres",
     .effect = "Store of the journal: files of this machine, or a PostgreSQL database."},
    {.name = "dir",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, dir),
     .preset = "",
     .effect = "Directory of the journal; empty: none, jobs are in memory only."},
    {.name = "fsync",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, fsync),
     .preset = "always",
     .effect = "When records are synced: always, at an interval in milliseconds, or never."},
    {.name = "segment_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct store_settings, segment_size),
     .preset = "64M",
     .min = SETTINGS_SEGMENT_LEAST,
     .max = SETTINGS_SEGMENT_MOST,
     .effect = "Size of a file; a larger job gets its own file."},
    {.name = "max_pending",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct store_settings, max_pending),
     .preset = "64M",
     .min = PENDING_LEAST,
     .max = PENDING_MOST,
     .effect = "Bytes that may wait for the disk before clients that submit jobs are not read."},
    {.name = "fail_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct store_settings, fail_timeout),
     .preset = "5",
     .min = 1,
     .max = FAIL_TIMEOUT_MAX,
     .effect = "Seconds of disk failure after which waiting clients are disconnected."},
    {.name = "import",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, import),
     .show = import_show,
     .preset = "",
     .effect = "Store of another broker to import at the first start, KIND:PLACE; empty: none."},
    {.name = "postgres",
     .kind = OPTION_TEXT,
     .show = conninfo_show,
     .is_credential = true,
     .offset = offsetof(struct store_settings, postgres),
     .preset = "",
     .effect = "Connection string of the database for libpq. Passwords are not shown."},
    {.name = "shard",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, shard),
     .preset = "main",
     .effect =
         "Name of the journal in the database: at most 32 characters of a to z, 0 to 9 and _."},
    {.name = "role",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct store_settings, role),
     .preset = "auto",
     .choices = "auto|standby",
     .effect = "Whether this process may own the journal, or is always a standby."},
    {.name = "standby",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct store_settings, standby),
     .preset = "proxy",
     .choices = "proxy|refuse",
     .effect = "What a standby does with clients: it forwards or refuses them."},
    {.name = "address",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, address),
     .preset = "",
     .effect = "Host by which other brokers reach this one; empty: the host name."},
    {.name = "require_quorum",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct store_settings, quorum),
     .preset = "warn",
     .choices = "no|warn|yes",
     .effect = "What to do if a commit is not on a disk, or not on a second server."},
    {.name = "lease_ttl",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct store_settings, lease_ttl),
     .preset = "5",
     .min = 1,
     .max = LEASE_TTL_MOST,
     .effect = "Seconds after which an owner that cannot reach the database loses the journal."},
    {.name = NULL},
};

static bool check_import(const char *text, struct error_text *why)
{
    struct source_news news;
    bool good = *text == '\0' || source_check(import_kinds, text, &news);

    if (!good) {
        error_set(why, "%s", news.what);
    }
    return good;
}

static bool check_shard(const char *text, struct error_text *why)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    bool good = len > 0 && len <= SHARD_MOST && text[len] == '\0';

    if (!good) {
        error_set(why, "`%s` is not a name of 1 to %d of a to z, 0 to 9 and _", text, SHARD_MOST);
    }
    return good;
}

// A name or a number without a port. Other members are told of it in a list of words.
static bool check_host(const char *text, struct error_text *why)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789.-_:%");
    bool good = len <= HOST_MOST && text[len] == '\0';

    if (!good) {
        error_set(why, "`%s` is neither a host name nor an IP address", text);
    }
    return good;
}

bool journal_options_check(const struct option *option, const char *text, struct error_text *why)
{
    nsec_t unused;

    if (strcmp(option->name, "import") == 0) {
        return check_import(text, why);
    }
    if (strcmp(option->name, "shard") == 0) {
        return check_shard(text, why);
    }
    if (strcmp(option->name, "address") == 0) {
        return check_host(text, why);
    }
    return strcmp(option->name, "fsync") != 0 || fsync_parse(text, &unused, why);
}

// What is wrong with settings of a journal in a database; NULL: nothing.
static const char *complaint_about_postgres(const struct store_settings *settings)
{
    if (settings->store != STORE_POSTGRES) {
        return *settings->postgres ? "[journal] postgres: needs `store = postgres`" : NULL;
    }
    if (*settings->postgres == '\0') {
        return "[journal] store = postgres: needs `postgres`, the database";
    }
    if (*settings->dir) {
        return "[journal] dir: is of `store = file`; with `store = postgres` it is empty";
    }
    return *settings->import
               ? "[journal] import: needs `store = file`; with a database, bring jobs "
                 "in by `tandemctl import`"
               : NULL;
}

bool journal_settings_check(const struct store_settings *settings, struct error_text *why)
{
    const char *complaint = complaint_about_postgres(settings);

    if (!complaint && *settings->import && *settings->dir == '\0') {
        complaint = "[journal] import: needs `dir`, where the jobs are to be kept from then on";
    }
    if (complaint) {
        error_set(why, "%s", complaint);
    }
    return !complaint;
}
