/* SPDX-License-Identifier: MIT */
#include "server/config/preflight.h"

#include "server/config/address.h"
#include "server/process/privilege.h"
#include "server/process/safe_path.h"
#include "server/process/syslog_path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool complain(const char *key, const char *path, int error, struct error_text *why)
{
    return error_set(why, "%s %s: %s", key, path, strerror(error));
}

// 0 where a directory is there, or cannot be seen.
static int missing_directory(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0) {
        return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    }
    return errno == ENOENT || errno == ENOTDIR ? errno : 0;
}

// The same for the directory that the path is in.
static int missing_parent(const char *path)
{
    char parent[PATH_MAX];
    size_t len = strlen(path);

    while (len > 0 && path[len - 1] == '/') {
        len--;
    }
    while (len > 0 && path[len - 1] != '/') {
        len--;
    }
    if (len == 0) {
        return 0;
    }
    if (len >= sizeof parent) {
        return ENAMETOOLONG;
    }
    memcpy(parent, path, len);
    parent[len] = '\0';
    return missing_directory(parent);
}

static bool is_log(mode_t mode)
{
    return S_ISREG(mode) || S_ISFIFO(mode) || S_ISCHR(mode);
}

static bool is_pid_file(mode_t mode)
{
    return S_ISREG(mode);
}

static bool is_socket(mode_t mode)
{
    return S_ISSOCK(mode);
}

// A file that a start makes, or takes where it is there and `suits`.
struct wanted {
    const char *key;
    bool follow; // a link at the end of the path
    bool (*suits)(mode_t mode);
};

static const struct wanted log_file = {.key = "log_file", .follow = true, .suits = is_log};
static const struct wanted pid_file = {.key = "pid_file", .suits = is_pid_file};
static const struct wanted unix_socket = {.key = "unix socket", .suits = is_socket};

// Whether a start could take what is there.
static bool check_place(const struct wanted *wanted, const char *path, struct error_text *why)
{
    struct safe_path place;
    struct stat st;
    bool good;

    errno = 0;
    if (!safe_path_find(&place, path, wanted->follow, why)) {
        return errno == EACCES;
    }
    good = safe_path_stat(&place, &st, why);
    safe_path_close(&place);
    if (good && st.st_mode != 0 && !wanted->suits(st.st_mode)) {
        error_set(why, "%s",
                  S_ISDIR(st.st_mode) ? strerror(EISDIR) : "there is something else already");
        good = false;
    }
    return good;
}

static bool check_file(const struct wanted *wanted, const char *path, struct error_text *why)
{
    int error = *path ? missing_parent(path) : 0;

    if (error) {
        return complain(wanted->key, path, error, why);
    }
    if (*path && !check_place(wanted, path, why)) {
        return error_prefix(why, "%s %s: ", wanted->key, path);
    }
    return true;
}

static bool check_journal(const char *dir, bool must_exist, struct error_text *why)
{
    int error = *dir ? missing_directory(dir) : 0;
    struct stat st;

    // Nothing is made where a link leads to nothing.
    if (error == ENOENT && !must_exist && lstat(dir, &st) != 0) {
        error = missing_parent(dir);
    }
    return !error || complain("journal.dir", dir, error, why);
}

static bool check_sockets(const char *addresses, struct error_text *why)
{
    struct address address;

    while (address_next(&addresses, &address, why) == ADDRESS_FOUND) {
        if (address.path[0] && !check_file(&unix_socket, address.path, why)) {
            return false;
        }
    }
    return true;
}

static bool check_log(const char *path, struct error_text *why)
{
    return syslog_path(path) || check_file(&log_file, path, why);
}

static bool check_user(const char *user, struct error_text *why)
{
    struct identity identity;

    return *user == '\0' || privilege_find(user, &identity, why) == EXIT_REASON_NONE;
}

bool preflight(const struct settings *settings, bool must_exist, struct error_text *why)
{
    const struct server_settings *server = &settings->server;

    for (size_t i = 0; i < FRONTENDS; i++) {
        if (!check_sockets(settings->protocols[i].listen, why)) {
            return false;
        }
    }
    return check_user(server->user, why) && check_log(server->log_file, why) &&
           check_file(&pid_file, server->pid_file, why) &&
           check_journal(settings->journal.dir, must_exist, why);
}
