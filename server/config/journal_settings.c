/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE // memmem()
#include "server/config/journal_settings.h"

#include "core/base/digits.h"
#include "core/base/slice.h"
#include "server/config/setting.h"
#include "server/config/settings.h"
#include "transfer/beanstalkd/beanstalkd.h"
#include "transfer/gearmand/gearmand.h"

#include <stdbool.h>
#include <string.h>

bool fsync_parse(const char *text, nsec_t *every_for, struct error_text *why)
{
    uint64_t ms;

    if (strcmp(text, "always") == 0) {
        *every_for = 0;
        return true;
    }
    if (strcmp(text, "never") == 0) {
        *every_for = NSEC_NEVER;
        return true;
    }
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') {
        return error_set(why, "`%s` is neither `always` nor `never` nor a number of milliseconds",
                         text);
    }
    if (!digits_read(slice_str(text), &ms) || ms > FSYNC_MOST_MS) {
        return error_set(why, "more than %d milliseconds", FSYNC_MOST_MS);
    }
    *every_for = (nsec_t)ms * NSEC_PER_MSEC;
    return true;
}

//
// Connection strings
//

static const char conninfo_blanks[] = " \t\r\n\f\v";

// Whether the value of that keyword may be a password. A percent-encoded name in a URI may be any
// keyword.
static bool conninfo_is_secret(struct slice name)
{
    static const char *const parts[] = {"pass", "secret", "scram", "%"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (memmem(name.ptr, name.len, parts[i], strlen(parts[i]))) {
            return !slice_equal(name, slice_of("passfile", 8));
        }
    }
    return false;
}

static void conninfo_write(const char *from, const char *to, FILE *file)
{
    (void)fwrite(from, 1, (size_t)(to - from), file);
}

// The end of a value, which may be in quotes; NULL if a quote or an escape is not closed.
static const char *conninfo_value_end(const char *at)
{
    bool quoted = *at == '\'';

    for (at += quoted; *at; at++) {
        if (*at == '\\') {
            at++;
            if (*at == '\0') {
                return NULL;
            }
        } else if (quoted ? *at == '\'' : strchr(conninfo_blanks, *at) != NULL) {
            return at + quoted;
        }
    }
    return quoted ? NULL : at;
}

// Writes the pair at `at`, and returns its end; NULL if there is no pair.
static const char *conninfo_show_pair(const char *at, FILE *file)
{
    struct slice name = {at, strcspn(at, "= \t\r\n\f\v")};
    const char *value = at + name.len + strspn(at + name.len, conninfo_blanks);
    const char *end;

    if (name.len == 0 || *value != '=') {
        return NULL;
    }
    value++;
    value += strspn(value, conninfo_blanks);
    end = conninfo_value_end(value);
    if (!end) {
        return NULL;
    }
    conninfo_write(at, value, file);
    if (conninfo_is_secret(name)) {
        (void)fputs(SETTING_HIDDEN, file);
    } else {
        conninfo_write(value, end, file);
    }
    return end;
}

static void conninfo_show_pairs(const char *at, FILE *file)
{
    while (at) {
        const char *next = at + strspn(at, conninfo_blanks);

        conninfo_write(at, next, file);
        if (*next == '\0') {
            return;
        }
        at = conninfo_show_pair(next, file);
    }
    (void)fputs(SETTING_HIDDEN, file);
}

// Writes `user:password@`, and returns the rest. A password that is not percent-encoded as it
// should be may have any byte: it ends at the last @.
static const char *conninfo_show_credentials(const char *at, FILE *file)
{
    const char *end = strrchr(at, '@');
    const char *colon = end ? memchr(at, ':', (size_t)(end - at)) : NULL;

    if (!colon) {
        return at;
    }
    conninfo_write(at, colon + 1, file);
    (void)fputs(SETTING_HIDDEN, file);
    return end;
}

static void conninfo_show_uri(const char *text, FILE *file)
{
    const char *at = strstr(text, "://") + 3;

    conninfo_write(text, at, file);
    at = conninfo_show_credentials(at, file);
    while (*at) {
        const char *name = at + strcspn(at, "?&");
        const char *value = name + strcspn(name, "=");
        const char *end;

        name += *name ? 1 : 0;
        value += *value ? 1 : 0;
        end = value + strcspn(value, "&");
        if (*value && conninfo_is_secret((struct slice){name, (size_t)(value - 1 - name)})) {
            conninfo_write(at, value, file);
            (void)fputs(SETTING_HIDDEN, file);
        } else {
            conninfo_write(at, end, file);
        }
        at = end;
    }
}

void conninfo_show(const char *text, FILE *file)
{
    if (strncmp(text, "postgres://", 11) == 0 || strncmp(text, "postgresql://", 13) == 0) {
        conninfo_show_uri(text, file);
    } else {
        conninfo_show_pairs(text, file);
    }
}

//
// Sources of imports
//

const struct source_kind *const import_kinds[] = {
    &beanstalkd_source,
    &gearmand_sqlite_source,
    &gearmand_postgres_source,
    &gearmand_mysql_dump_source,
    NULL,
};

void import_show(const char *text, FILE *file)
{
    const char *name = gearmand_postgres_source.name;
    size_t len = strlen(name);

    if (strncmp(text, name, len) == 0 && text[len] == ':') {
        (void)fprintf(file, "%s:", name);
        conninfo_show(text + len + 1, file);
    } else {
        (void)fputs(text, file);
    }
}

//
// The keys
//

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
     .default_value = "file",
     .choices = "file|postgres",
     .effect = "Store of the journal: files of this machine, or a PostgreSQL database."},
    {.name = "dir",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, dir),
     .default_value = "",
     .effect = "Directory of the journal; empty: none, jobs are in memory only."},
    {.name = "fsync",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, fsync),
     .default_value = "always",
     .effect = "When records are synced: always, at an interval in milliseconds, or never."},
    {.name = "segment_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct store_settings, segment_size),
     .default_value = "64M",
     .min = SETTINGS_SEGMENT_LEAST,
     .max = SETTINGS_SEGMENT_MOST,
     .effect = "Size of a file; a larger job gets its own file."},
    {.name = "max_pending",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct store_settings, max_pending),
     .default_value = "64M",
     .min = PENDING_LEAST,
     .max = PENDING_MOST,
     .effect = "Bytes that may wait for the disk before clients that submit jobs are not read."},
    {.name = "fail_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct store_settings, fail_timeout),
     .default_value = "5",
     .min = 1,
     .max = FAIL_TIMEOUT_MAX,
     .effect = "Seconds of disk failure after which waiting clients are disconnected."},
    {.name = "import",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, import),
     .show = import_show,
     .default_value = "",
     .effect = "Store of another broker to import at the first start, KIND:PLACE; empty: none."},
    {.name = "postgres",
     .kind = OPTION_TEXT,
     .show = conninfo_show,
     .is_credential = true,
     .offset = offsetof(struct store_settings, postgres),
     .default_value = "",
     .effect = "Connection string of the database for libpq. Passwords are not shown."},
    {.name = "shard",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, shard),
     .default_value = "main",
     .effect =
         "Name of the journal in the database: at most 32 characters of a to z, 0 to 9 and _."},
    {.name = "role",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct store_settings, role),
     .default_value = "auto",
     .choices = "auto|standby",
     .effect = "Whether this process may own the journal, or is always a standby."},
    {.name = "standby",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct store_settings, standby),
     .default_value = "proxy",
     .choices = "proxy|refuse",
     .effect = "What a standby does with clients: it forwards or refuses them."},
    {.name = "address",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct store_settings, address),
     .default_value = "",
     .effect = "Host by which other brokers reach this one; empty: the host name."},
    {.name = "require_quorum",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct store_settings, quorum),
     .default_value = "warn",
     .choices = "no|warn|yes",
     .effect = "What to do if a commit is not on a disk, or not on a second server."},
    {.name = "lease_ttl",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct store_settings, lease_ttl),
     .default_value = "5",
     .min = 1,
     .max = LEASE_TTL_MOST,
     .effect = "Seconds after which an owner that cannot reach the database loses the journal."},
    {.name = NULL},
};

static bool shard_check(const char *text, struct error_text *why)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return (len > 0 && len <= SHARD_MOST && text[len] == '\0') ||
           error_set(why, "`%s` is not a name of 1 to %d characters of a to z, 0 to 9 and _", text,
                     SHARD_MOST);
}

// A host name or an address without a port. Brokers advertise it in a list separated by blanks.
static bool journal_address_check(const char *text, struct error_text *why)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789.-_:%");

    return (len <= HOST_MOST && text[len] == '\0') ||
           error_set(why, "`%s` is neither a host name nor an IP address", text);
}

bool journal_options_check(const struct option *option, const char *text, struct error_text *why)
{
    struct source_news news;
    nsec_t unused;

    if (strcmp(option->name, "import") == 0) {
        return *text == '\0' || source_check(import_kinds, text, &news) ||
               error_set(why, "%s", news.what);
    }
    if (strcmp(option->name, "shard") == 0) {
        return shard_check(text, why);
    }
    if (strcmp(option->name, "address") == 0) {
        return journal_address_check(text, why);
    }
    return strcmp(option->name, "fsync") != 0 || fsync_parse(text, &unused, why);
}

bool journal_settings_check(const struct store_settings *settings, struct error_text *why)
{
    if (settings->store != STORE_POSTGRES) {
        if (*settings->postgres) {
            return error_set(why, "[journal] postgres: needs `store = postgres`");
        }
    } else if (*settings->postgres == '\0') {
        return error_set(why, "[journal] store = postgres: needs `postgres`, the database");
    } else if (*settings->dir) {
        return error_set(why, "[journal] dir: must be empty with `store = postgres`");
    } else if (*settings->import) {
        return error_set(why, "[journal] import: needs `store = file`; with a database, use "
                              "`tandemctl import`");
    }
    if (*settings->import && *settings->dir == '\0') {
        return error_set(why, "[journal] import: needs `dir`, the journal to import into");
    }
    return true;
}
