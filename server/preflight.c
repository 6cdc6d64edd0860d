/* SPDX-License-Identifier: MIT */
#include "server/preflight.h"

#include "server/address.h"
#include "server/privilege.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool complain(const char *key, const char *path, int error, struct complaint *why)
{
    complaint_set(why, "%s %s: %s", key, path, strerror(error));
    return false;
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

static bool check_file(const char *key, const char *path, struct complaint *why)
{
    struct stat st;
    int error = *path ? missing_parent(path) : 0;

    if (!error && *path && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        error = EISDIR;
    }
    return !error || complain(key, path, error, why);
}

static bool check_journal(const char *dir, bool must_exist, struct complaint *why)
{
    int error = *dir ? missing_directory(dir) : 0;

    if (error == ENOENT && !must_exist) {
        error = missing_parent(dir);
    }
    return !error || complain("journal.dir", dir, error, why);
}

static bool check_sockets(const char *addresses, struct complaint *why)
{
    struct address address;

    while (address_next(&addresses, &address, why) == ADDRESS_FOUND) {
        if (address.path[0] && !check_file("unix socket", address.path, why)) {
            return false;
        }
    }
    return true;
}

static bool check_user(const char *user, struct complaint *why)
{
    struct identity identity;

    return *user == '\0' || privilege_find(user, &identity, why) == FAULT_NONE;
}

bool preflight(const struct settings *settings, bool must_exist, struct complaint *why)
{
    const struct server_settings *server = &settings->server;

    for (size_t i = 0; i < FRONTENDS; i++) {
        if (!check_sockets(settings->protocols[i].listen, why)) {
            return false;
        }
    }
    return check_user(server->user, why) && check_file("log_file", server->log_file, why) &&
           check_file("pid_file", server->pid_file, why) &&
           check_journal(settings->journal.dir, must_exist, why);
}
