/* SPDX-License-Identifier: MIT */
#include "server/config/start_paths.h"

#include "server/config/listen_address.h"
#include "server/process/daemon.h"
#include "server/process/safe_path.h"
#include "server/process/syslog_path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool path_error(const char *key, const char *path, int error, struct error_text *why)
{
    return error_set(why, "%s %s: %s", key, path, strerror(error));
}

// The error of a missing directory; 0 if it exists, or cannot be examined.
static int directory_error(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0) {
        return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    }
    return errno == ENOENT || errno == ENOTDIR ? errno : 0;
}

// The same for the parent directory of the path.
static int parent_error(const char *path)
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
    return directory_error(parent);
}

static bool mode_is_log(mode_t mode)
{
    return S_ISREG(mode) || S_ISFIFO(mode) || S_ISCHR(mode);
}

static bool mode_is_pid_file(mode_t mode)
{
    return S_ISREG(mode);
}

static bool mode_is_socket(mode_t mode)
{
    return S_ISSOCK(mode);
}

// A file that the start creates, or uses if it exists and is of the right kind.
struct start_file {
    const char *key;
    bool follow; // a symbolic link at the end of the path
    bool (*is_kind)(mode_t mode);
};

static const struct start_file log_file = {
    .key = "log_file", .follow = true, .is_kind = mode_is_log};
static const struct start_file pid_file = {.key = "pid_file", .is_kind = mode_is_pid_file};
static const struct start_file unix_socket = {.key = "unix socket", .is_kind = mode_is_socket};

// Whether the start could use the file at the path.
static bool start_file_check_kind(const struct start_file *start_file, const char *path,
                                  struct error_text *why)
{
    struct safe_path place;
    struct stat st;
    bool good;

    errno = 0;
    if (!safe_path_find(&place, path, start_file->follow, why)) {
        return errno == EACCES;
    }
    good = safe_path_stat(&place, &st, why);
    safe_path_close(&place);
    if (good && st.st_mode != 0 && !start_file->is_kind(st.st_mode)) {
        error_set(why, "%s",
                  S_ISDIR(st.st_mode) ? strerror(EISDIR) : "a file of another kind is there");
        good = false;
    }
    return good;
}

static bool start_file_check(const struct start_file *start_file, const char *path,
                             struct error_text *why)
{
    int error = *path ? parent_error(path) : 0;

    if (error) {
        return path_error(start_file->key, path, error, why);
    }
    if (*path && !start_file_check_kind(start_file, path, why)) {
        return error_prefix(why, "%s %s: ", start_file->key, path);
    }
    return true;
}

static bool journal_dir_check(const char *dir, bool must_exist, struct error_text *why)
{
    int error = *dir ? directory_error(dir) : 0;
    struct stat st;

    // A directory is not created at the target of a broken link.
    if (error == ENOENT && !must_exist && lstat(dir, &st) != 0) {
        error = parent_error(dir);
    }
    return !error || path_error("journal.dir", dir, error, why);
}

static bool listen_paths_check(const char *addresses, struct error_text *why)
{
    struct listen_address address;

    while (address_next(&addresses, &address, why) == ADDRESS_FOUND) {
        if (address.path[0] && !start_file_check(&unix_socket, address.path, why)) {
            return false;
        }
    }
    return true;
}

bool check_start_paths(const struct settings *settings, bool must_exist, struct error_text *why)
{
    const struct server_settings *server = &settings->server;
    struct identity identity;

    for (size_t i = 0; i < FRONTENDS; i++) {
        if (!listen_paths_check(settings->protocols[i].listen, why)) {
            return false;
        }
    }
    if (*server->user && privilege_find(server->user, &identity, why) != EXIT_REASON_NONE) {
        return false;
    }
    return (syslog_path(server->log_file) || start_file_check(&log_file, server->log_file, why)) &&
           start_file_check(&pid_file, server->pid_file, why) &&
           journal_dir_check(settings->journal.dir, must_exist, why);
}
